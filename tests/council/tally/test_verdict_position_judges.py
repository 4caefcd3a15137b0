"""Judges that vote only by position produce an exact tie, and the verdict says so."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from council.labels import Slate
from council.panel import Terms
from council.round_rules import compute_tally
from council.rounds import Round
from council.tally import Strength
from tests.builders import TERMS, a_panel, a_round, vote_in_slot_order, with_answers, with_ballots


def _last_first(slate: Slate) -> str:
    return " ".join(reversed(slate.letters))


def _middle_first(slate: Slate) -> str:
    middle = len(slate.letters) // 2
    return " ".join(slate.letters[middle:] + slate.letters[:middle])


def _only_the_first(slate: Slate) -> str:
    return slate.letters[0]


POSITIONS = [
    pytest.param(vote_in_slot_order, id="first-shown-first"),
    pytest.param(_last_first, id="last-shown-first"),
    pytest.param(_middle_first, id="from-the-middle"),
    pytest.param(_only_the_first, id="first-shown-and-no-more"),
]


# Slot letters go by position, so a fondness for a letter is a fondness for a slot.
@pytest.mark.parametrize("vote", POSITIONS)
@pytest.mark.parametrize("absent", [0, 1])
@pytest.mark.parametrize("members", range(3, 9))
def test_votes_by_position_alone_end_in_an_exact_tie(
    members: int, absent: int, vote: Callable[[Slate], str]
) -> None:
    round_ = a_panel_round(members + absent, answers=members)
    silent = [seat.key for seat in round_.panel.members[members:]]

    tally = without_judges(with_ballots(round_, vote), silent).tally

    assert tally is not None
    assert [line.share for line in tally.standings] == pytest.approx([0.5] * members, abs=1e-9)
    assert {line.place for line in tally.standings} == {1}
    assert tally.verdict.strength is Strength.NO_CONSENSUS


BROKEN = [
    pytest.param(1, 0, 0, id="an-outside-judge"),
    pytest.param(2, 0, 0, id="two-outside-judges"),
    pytest.param(0, 1, 0, id="a-judge-without-an-answer"),
    pytest.param(0, 0, 1, id="a-lost-ranking"),
]


@pytest.mark.parametrize("vote", POSITIONS)
@pytest.mark.parametrize(("outside", "unanswered", "lost"), BROKEN)
@pytest.mark.parametrize("members", range(3, 9))
def test_where_position_alone_decides_the_first_place_is_never_sure(
    members: int,
    outside: int,
    unanswered: int,
    lost: int,
    vote: Callable[[Slate], str],
) -> None:
    round_ = with_ballots(a_panel_round(members, members - unanswered, outside=outside), vote)
    silent = [seat.key for seat in round_.panel.members[:lost]]

    tally = without_judges(round_, silent).tally

    assert tally is not None
    assert not tally.verdict.is_sure


@pytest.mark.parametrize("vote", [vote_in_slot_order, _last_first])
@pytest.mark.parametrize(("outside", "unanswered", "lost"), BROKEN)
@pytest.mark.parametrize("members", range(3, 9))
def test_in_both_orders_the_first_and_last_slot_tie_everywhere(
    members: int,
    outside: int,
    unanswered: int,
    lost: int,
    vote: Callable[[Slate], str],
) -> None:
    terms = replace(TERMS, method="both-orders")
    asked = a_panel_round(members, members - unanswered, terms=terms, outside=outside)
    round_ = with_ballots(asked, vote)

    tally = without_judges(round_, [seat.key for seat in round_.panel.members[:lost]]).tally

    assert tally is not None
    assert {line.place for line in tally.standings} == {1}


def a_panel_round(members: int, answers: int, *, outside: int = 0, terms: Terms = TERMS) -> Round:
    """Return a round in which the first of the members answered."""
    round_ = a_round(a_panel(members, outside=outside, terms=terms), seed=f"s{answers}")
    keys = [seat.key for seat in round_.panel.members[:answers]]
    return with_answers(round_, {key: f"Answer {key}." for key in keys})


def without_judges(round_: Round, silent: list[str]) -> Round:
    """Return the round counted without the ballots of these judges."""
    draw = round_.draw
    assert draw
    counted = tuple(ballot for ballot in round_.ballots if ballot.judge not in silent)
    round_ = replace(round_, ballots=counted)
    return replace(round_, tally=compute_tally(round_, draw))


def test_a_real_preference_survives_the_balanced_design() -> None:
    tally = with_ballots(with_answers(a_round(a_panel(6)))).tally

    assert tally is not None
    assert [line.share for line in tally.standings] == pytest.approx([1, 0.8, 0.6, 0.4, 0.2, 0])
