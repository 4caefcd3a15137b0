from collections.abc import Sequence

import numpy as np
import pytest

from council.bakeoffs.records import PackedRecord
from council.bias.vote_arrays import MAX_BLOCK_ROUNDS, pack_votes
from council.bias.votes import VERSION, Votes
from council.research.judge_weights import Choice
from council.research.weighted_leaderboard import build_evidence
from tests.council.bias.vote_builders import RECORD, a_vote, an_audit, votes

FOUR = votes(a_vote("a", "b c d"), a_vote("b", "d a c"))
# Judge a turned one pair of three round when it saw them again.
AGAIN = votes(a_vote("a", "b c d"), audit=an_audit("order", a_vote("a", "c b d")))
THREE = votes(
    a_vote("b", "a c"), judges=("a", "b", "c"), makers=("north", "south", "north"), members=3
)


def rows(*rounds: Votes) -> Sequence[PackedRecord]:
    return [pack_votes(one, RECORD)._replace(round_id=f"r{i}") for i, one in enumerate(rounds)]


def test_rounds_of_the_same_seats_come_together_under_their_ids() -> None:
    found = build_evidence(rows(FOUR, THREE, FOUR), ())

    assert [one.rounds for one in found.rounds] == [("r0", "r2"), ("r1",)]
    assert [one.members for one in found.rounds] == [("a", "b", "c", "d"), ("a", "b", "c")]
    assert found.rounds[1].makers == ("north", "south", "north")
    np.testing.assert_allclose(found.rounds[0].shares[0, 1], [0.5, np.nan, 0, 1])
    assert found.judges == ("a", "b", "c", "d")


def test_repeats_are_counted_for_each_judge() -> None:
    found = build_evidence(rows(*[AGAIN] * 20, FOUR), ())

    assert found.repeats["a"].ballots == 20
    assert found.repeats["a"].kept == pytest.approx(2 / 3)
    assert (found.repeats["b"].ballots, found.repeats["b"].kept) == (0, 0)


def test_evidence_includes_the_votes_of_people() -> None:
    choices = [Choice("r0", "a")]

    assert build_evidence(rows(FOUR), choices).choices == (Choice("r0", "a"),)


def test_votes_of_another_version_are_left_out() -> None:
    old = [row._replace(version=VERSION + 1) for row in rows(FOUR)]

    assert build_evidence(old, ()).rounds == ()


def test_very_many_rounds_are_split_without_loss() -> None:
    row = rows(FOUR)[0]

    found = build_evidence([row._replace(round_id=str(i)) for i in range(MAX_BLOCK_ROUNDS + 1)], ())

    assert [len(one.rounds) for one in found.rounds] == [MAX_BLOCK_ROUNDS, 1]
    assert found.rounds[1].rounds == (str(MAX_BLOCK_ROUNDS),)
