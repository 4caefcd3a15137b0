"""The strength of a verdict, by its rules in order."""

from dataclasses import replace

import pytest

from council.ballots import Ballot
from council.tally import Strength, Tally, count_ballots
from council.tally.chance_rule import INDEPENDENT, SHARED_ERRORS, ChanceRule
from tests.builders import a_ballot, labels
from tests.council.tally.examples import E1, full_panel, without_own

EXACT = ChanceRule(INDEPENDENT, 0.0)  # its p can be counted by hand


def _tally(ballots: tuple[Ballot, ...]) -> Tally:
    names = sorted({label for ballot in ballots for label in ballot.shown})
    return count_ballots(names, ballots, "seed", EXACT)


def _panel_of_seven(outside_for_b: int) -> tuple[Ballot, ...]:
    """Return a full panel of seven: B puts A first, A puts B last, the other five both ahead."""
    own = (a_ballot("C D E F G B", by="A"), a_ballot("A C D E F G", by="B"))
    outside = [
        a_ballot(
            ("B A " if i < outside_for_b else "A B ") + " ".join(x for x in "CDEFG" if x != judge),
            by=judge,
        )
        for i, judge in enumerate("CDEFG")
    ]
    return (*own, *outside)


ALL_EQUAL = full_panel("B C", "C A", "A B")
TIED = full_panel("B C D", "A C D", "A B D", "B A C")
UNANIMOUS = without_own("A B C D", "A B C D")
# 18 of 20 points for A (p = .040), and 16 for B: a lead of .10 to the hair
CLEAR = full_panel("B C D E F", "A C D E F", "A B D E F", "A B C E F", "A B C D F", "D B A C E")
# 18 of 20 for A again, but 17 for B: judges outside the pair see them level
NARROW = full_panel("C B D E F", "A C D E F", "A B D E F", "A B C E F", "B A C D F", "B A C D E")
# A has 4 of 6 points and leads alone, which random ballots nearly always manage (p = .981)
CHANCE = full_panel("B D C", "A C D", "D A B", "C A B")


@pytest.mark.parametrize(
    ("ballots", "strength"),
    [
        pytest.param((), Strength.NO_CONSENSUS, id="no-ballot"),
        pytest.param(ALL_EQUAL, Strength.NO_CONSENSUS, id="all-shares-equal"),
        pytest.param(TIED, Strength.TIED, id="two-share-the-first-place"),
        pytest.param(UNANIMOUS, Strength.UNANIMOUS, id="first-alone-on-every-ballot"),
        pytest.param(CLEAR, Strength.CLEAR, id="little-chance-and-ahead"),
        pytest.param(NARROW, Strength.CLOSE, id="little-chance-but-hardly-ahead"),
        pytest.param(E1, Strength.CLOSE, id="some-chance"),
        pytest.param(CHANCE, Strength.NO_CONSENSUS, id="mostly-chance"),
        pytest.param(_panel_of_seven(outside_for_b=2), Strength.CLEAR, id="outsiders-agree"),
        pytest.param(_panel_of_seven(outside_for_b=3), Strength.CLOSE, id="outsiders-contradict"),
    ],
)
def test_the_strength_of_a_verdict_follows_the_table(
    ballots: tuple[Ballot, ...], strength: Strength
) -> None:
    assert _tally(ballots).verdict.strength is strength


def test_a_lead_of_exactly_a_tenth_is_enough() -> None:
    first, second, *_ = _tally(CLEAR).standings

    assert (first.points, second.points) == (18, 16)
    assert first.share is not None
    assert second.share is not None
    assert first.share - second.share < 0.1  # as a float it falls short by a rounding error


def test_contradiction_by_other_judges_denies_a_clear_verdict() -> None:
    # A has 27 of 30 and B 23 of 30, p is small: only the five judges outside the pair object.
    tally = _tally(_panel_of_seven(outside_for_b=3))

    first, second, *_ = tally.standings
    assert (first.label, first.points, second.label, second.points) == ("A", 27, "B", 23)
    assert tally.verdict.p is not None
    assert tally.verdict.p <= 0.05


def test_without_other_judges_nobody_contradicts() -> None:
    ballots = (
        *(a_ballot("A C", by=f"a{i}") for i in range(19)),
        a_ballot("C A", by="a19"),
        *(a_ballot("B C" if i % 2 else "C B", by=f"b{i}") for i in range(20)),
    )

    assert _tally(ballots).verdict.strength is Strength.CLEAR


def test_first_alone_on_every_ballot_is_unanimous() -> None:
    verdict = _tally(without_own("A B C", "A B C")).verdict

    assert verdict.strength is Strength.UNANIMOUS
    assert verdict.p == 0.75


def test_a_shared_first_place_on_one_ballot_is_not_unanimous() -> None:
    ballots = full_panel("B C D", "A=C D", "A B D", "A B C")

    assert _tally(ballots).verdict.strength is Strength.CLOSE


# Both rankings of each judge put A first on average, the second one puts D or C before it.
HALF = tuple(
    replace(a_ballot(ranking, by=judge), pass_number=number)
    for judge, *passes in (
        ("B", "A C D", "D A C"),
        ("C", "A B D", "D A B"),
        ("D", "A B C", "C A B"),
    )
    for number, ranking in enumerate(passes, start=1)
)


def test_unanimous_is_first_in_every_pass_of_a_judge() -> None:
    assert _tally(HALF).verdict.strength is Strength.NO_CONSENSUS
    assert _tally(HALF[::2]).verdict.strength is Strength.UNANIMOUS
    assert _tally(HALF).verdict.first_on == (3, 3)


def test_older_rounds_look_at_the_mean_of_a_judges_passes() -> None:
    found = count_ballots(labels("A B C D"), HALF, "seed", replace(EXACT, every_pass=False))

    assert found.verdict.strength is Strength.UNANIMOUS


def test_a_first_place_is_sure_if_it_is_unlikely_to_be_chance() -> None:
    assert _tally(CLEAR).verdict.is_sure
    assert not _tally(UNANIMOUS).verdict.is_sure  # of three judges
    assert not _tally(NARROW).verdict.is_sure
    assert not _tally(()).verdict.is_sure


def test_the_headline_counts_only_ballots_that_saw_the_winner() -> None:
    assert _tally(UNANIMOUS).verdict.first_on == (3, 3)
    assert _tally(E1).verdict.first_on == (2, 3)


@pytest.mark.parametrize(
    ("order", "too_few"),
    [
        pytest.param("A B C", True, id="three"),
        pytest.param("A B C D", True, id="four"),
        pytest.param("A B C D E", False, id="five"),
        pytest.param("A B C D E F", False, id="six"),
    ],
)
def test_too_few_judges_are_reported(order: str, too_few: bool) -> None:
    assert _tally(without_own(order, order)).verdict.too_few_judges is too_few


def test_without_a_counted_ballot_there_are_no_standings() -> None:
    tally = count_ballots(labels("K L"), [a_ballot("K L", audit="named")], "seed")

    assert tally.standings == ()
    assert tally.verdict.p is None
    assert tally.verdict.first_on == (0, 0)
    assert tally.verdict.too_few_judges


def test_p_follows_from_slates_and_the_winners_share() -> None:
    # E1: A has 5 of 6, which the table of the method puts at .556.
    assert _tally(E1).verdict.p == pytest.approx(0.556, abs=0.0005)


def test_judges_that_share_errors_make_the_same_lead_less_clear() -> None:
    rules = (ChanceRule(SHARED_ERRORS, 0.15), ChanceRule())

    found = [count_ballots(labels("A B C D E F"), CLEAR, "seed", rule).verdict for rule in rules]

    assert [verdict.strength for verdict in found] == [Strength.CLOSE, Strength.CLOSE]
    assert [verdict.p for verdict in found] == pytest.approx([0.13, 0.203], abs=0.01)
