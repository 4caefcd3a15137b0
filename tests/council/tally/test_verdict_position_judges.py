"""Judges that vote only by position produce an exact tie, and the verdict says so."""

from collections.abc import Callable

import pytest

from council.labels import Slate
from council.tally import Strength
from tests.builders import a_panel, a_round, vote_in_slot_order, with_answers, with_ballots


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
@pytest.mark.parametrize("members", range(3, 9))
def test_votes_by_position_alone_end_in_an_exact_tie(
    members: int, vote: Callable[[Slate], str]
) -> None:
    round_ = with_answers(a_round(a_panel(members), seed=f"s{members}"))

    tally = with_ballots(round_, vote).tally

    assert tally is not None
    assert [line.share for line in tally.standings] == pytest.approx([0.5] * members, abs=1e-9)
    assert {line.place for line in tally.standings} == {1}
    assert tally.verdict.strength is Strength.NO_CONSENSUS


def test_a_real_preference_survives_the_balanced_design() -> None:
    tally = with_ballots(with_answers(a_round(a_panel(6)))).tally

    assert tally is not None
    assert [line.share for line in tally.standings] == pytest.approx([1, 0.8, 0.6, 0.4, 0.2, 0])
