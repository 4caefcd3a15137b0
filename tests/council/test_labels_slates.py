"""No judge sees its own answer, and every answer is in every slot equally often."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest

from council.labels import Label, LabelMap, Slate, draw_labels, draw_slates
from tests.builders import KEYS, a_slate

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


@pytest.mark.parametrize("authors", range(3, 9))
def test_over_many_seeds_every_judge_sees_every_rival_in_every_slot(authors: int) -> None:
    met: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for seed in SEEDS:
        drawn, slates = _of(authors, seed)
        for slate in slates:
            met[slate.judge] |= {
                (drawn.author_of(label), slot) for slot, label in enumerate(slate.shown)
            }

    assert all(len(met[judge]) == (authors - 1) ** 2 for judge in KEYS[:authors])


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


def test_two_answers_without_other_judges_have_no_slates() -> None:
    assert _of(2, "seed")[1] == ()


def test_a_draw_never_changes_between_versions() -> None:
    drawn, slates = _of(4, "seed", OUTSIDE[:1])

    assert "".join(drawn.labels) == "XOVW"
    assert ["".join(slate.shown) for slate in slates] == ["VOW", "WVX", "XWO", "OXV", "VXOW"]


def test_letters_follow_slots() -> None:
    slate = a_slate("M K Z")

    assert slate.letters == ("A", "B", "C")
    assert [slate.label_at(letter) for letter in slate.letters] == ["M", "K", "Z"]
