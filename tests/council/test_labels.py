"""Public labels hide the authors of one round."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

import council
from council.digests import json_digest
from council.labels import PUBLIC_LETTERS, Label, LabelMap, Slate, draw_labels, draw_slates
from tests.builders import KEYS, a_slate


def test_every_author_has_a_distinct_label() -> None:
    drawn = draw_labels(KEYS[:10], "seed")

    assert drawn.authors == KEYS[:10]
    assert len(set(drawn.labels)) == 10
    assert set(drawn.labels) <= set(PUBLIC_LETTERS)


def test_a_label_leads_to_its_author_and_back() -> None:
    drawn = draw_labels(KEYS[:5], "seed")

    for author in drawn.authors:
        label = drawn.label_of(author)
        assert label is not None
        assert drawn.author_of(label) == author


def test_an_absent_member_has_no_label() -> None:
    assert draw_labels(KEYS[:2], "seed").label_of(KEYS[2]) is None


@pytest.mark.parametrize("seat", [0, 3])
def test_labels_are_independent_of_seats(seat: int) -> None:
    # 3,200 seeds over 16 letters: 200 each, standard deviation 13.7
    drawn = Counter(draw_labels(KEYS[:4], str(seed)).labels[seat] for seed in range(3_200))

    assert set(drawn) == set(PUBLIC_LETTERS)
    assert all(abs(count - 200) < 60 for count in drawn.values())


SEEDS = [str(seed) for seed in range(400)]
OUTSIDE = ("outside/one", "outside/two", "outside/three")


def _slots(slates: Sequence[Slate]) -> dict[Label, Counter[int]]:
    """Return how often each label is in each slot."""
    found: dict[Label, Counter[int]] = defaultdict(Counter)
    for slate in slates:
        for slot, label in enumerate(slate.shown):
            found[label][slot] += 1
    return found


def _of(
    authors: int, seed: str, onlookers: Sequence[str] = ()
) -> tuple[LabelMap, tuple[Slate, ...]]:
    drawn = draw_labels(KEYS[:authors], seed)
    return drawn, draw_slates(drawn, onlookers, seed)


@pytest.mark.parametrize("authors", range(3, 11))
def test_every_answer_is_in_every_slot_equally_often(authors: int) -> None:
    for seed in SEEDS[:60]:
        drawn, slates = _of(authors, seed)

        counts = _slots(slates)

        assert all(counts[x] == dict.fromkeys(range(authors - 1), 1) for x in drawn.labels)


@pytest.mark.parametrize("authors", range(3, 11))
def test_every_judge_sees_all_answers_except_its_own(authors: int) -> None:
    for seed in SEEDS[:60]:
        drawn, slates = _of(authors, seed)

        assert [slate.judge for slate in slates] == list(drawn.authors)
        for slate in slates:
            others = {x for x in drawn.labels if x != drawn.label_of(slate.judge)}
            assert set(slate.shown) == others
            assert len(slate.shown) == authors - 1


@pytest.mark.parametrize("authors", range(2, 11))
def test_outside_judges_and_absent_members_see_every_answer(authors: int) -> None:
    drawn, slates = _of(authors, "seed", OUTSIDE)

    assert [slate.judge for slate in slates[-3:]] == list(OUTSIDE)
    assert all(sorted(slate.shown) == sorted(drawn.labels) for slate in slates[-3:])


@pytest.mark.parametrize("onlookers", [1, 2, 3, 4, 5, 7, 9])
@pytest.mark.parametrize("authors", [2, 3, 4, 6])
def test_slates_of_all_answers_are_balanced_to_within_one(authors: int, onlookers: int) -> None:
    seats = [f"outside/{i}" for i in range(onlookers)]
    for seed in SEEDS[:30]:
        _, slates = _of(authors, seed, seats)

        counts = _slots(slates[-onlookers:])

        found = [counts[label][slot] for label in counts for slot in range(authors)]
        assert max(found) - min(found) <= 1


def test_authors_of_two_answers_rank_nothing() -> None:
    _, slates = _of(2, "seed", OUTSIDE)

    assert [slate.judge for slate in slates] == list(OUTSIDE)


@pytest.mark.parametrize("authors", [0, 1])
def test_a_single_answer_is_shown_to_no_judge(authors: int) -> None:
    assert _of(authors, "seed", OUTSIDE)[1] == ()


def test_a_draw_never_changes_between_versions() -> None:
    drawn, slates = _of(4, "seed", OUTSIDE[:1])

    assert "".join(drawn.labels) == "XOVW"
    assert ["".join(slate.shown) for slate in slates] == ["VOW", "WVX", "XWO", "OXV", "VXOW"]


def test_letters_follow_slots() -> None:
    slate = a_slate("M K Z")

    assert slate.letters == ("A", "B", "C")
    assert [slate.label_at(letter) for letter in slate.letters] == ["M", "K", "Z"]


SHIPPED = Path(council.__file__).with_name("council_designs.json")
VERIFIED_DIGEST = "980e48cf54e7b612d6f71aebe86d479bbb9a73c841aa66a56d62b119cf0df8cc"
DESIGNS: dict[str, list[list[int]]] = json.loads(SHIPPED.read_text(encoding="utf-8"))

each_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=lambda d: str(len(d)))


def test_designs_exist_for_three_to_ten_answers() -> None:
    assert sorted(map(int, DESIGNS)) == list(range(3, 11))
    assert all(len(design) == int(count) for count, design in DESIGNS.items())


@each_design
def test_pair_orders_are_nearly_balanced(design: list[list[int]]) -> None:
    before = Counter((x, y) for row in design for i, x in enumerate(row) for y in row[i + 1 :])

    # n − 2 judges see a pair: no pair stands in one order on more than about two thirds of them
    assert all(before[pair] <= (len(design) - 2) * 2 / 3 + 1 for pair in before)


def test_the_shipped_designs_match_their_digest() -> None:
    assert json_digest(DESIGNS) == VERIFIED_DIGEST
