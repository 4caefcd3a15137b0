from collections.abc import Sequence

import numpy as np
import pytest

from council.bakeoffs.bias.vote_arrays import MAX_BLOCK_ROUNDS, pack_votes
from council.bakeoffs.bias.votes import FIRST_VERSION, Votes
from council.bakeoffs.records import PackedRecord
from council.research.judge_weights import (
    FAMILY,
    HUMAN,
    INDEPENDENCE,
    PEERRANK,
    UNIFORM,
    Choice,
)
from council.research.weighted_leaderboard import (
    Evidence,
    WeightedBoard,
    build_evidence,
    build_weighted_board,
)
from council.tally.consistency import CONSISTENCY, Repeats
from tests.council.bakeoffs.bias.vote_builders import RECORD, a_vote, votes
from tests.council.research.share_builders import E1, given

# Two judges of one maker prefer y, one of another prefers x.
SPLIT = [[0, 1], [0, 1], [1, 0]]
METHODS = (UNIFORM, CONSISTENCY, HUMAN, FAMILY, PEERRANK, INDEPENDENCE)
MAKERS = ("north", "north", "south")
KEPT = {"a": Repeats(20, 0.5), "b": Repeats(20, 0.5), "c": Repeats(20, 1.0)}


def _board(name: str, rounds: int = 4, repeats: dict[str, Repeats] | None = None) -> WeightedBoard:
    one = given(*[SPLIT] * rounds, judges="abc", makers=MAKERS, members="xy")
    choices = (Choice("r0", "x"),) * 20
    return build_weighted_board(
        name, Evidence((one,), KEPT if repeats is None else repeats, choices)
    )


def test_uniform_weights_are_the_official_count() -> None:
    found = build_weighted_board("uniform", Evidence((given(E1),), {}, ()))

    assert [line.member for line in found.rows] == ["ada", "bob", "cyd", "dee"]
    assert all(line.share == line.uniform and line.change == 0 for line in found.rows)
    assert found.moved == ()


# North's two have half a voice each: x has 1 of 2 voices, as y has.
def test_family_share_takes_a_majority_from_one_maker() -> None:
    found = _board("family")

    assert [(line.member, line.share) for line in found.rows] == [("x", 0.5), ("y", 0.5)]
    assert [line.uniform for line in found.rows] == pytest.approx([1 / 3, 2 / 3])
    assert [line.member for line in found.moved] == ["x"]
    assert found.rows[0].change == pytest.approx(1 / 6)


def test_a_steady_judge_outvotes_two_that_vote_by_chance() -> None:
    found = _board("consistency")

    assert [line.member for line in found.rows] == ["x", "y"]
    assert {line.member: (line.rank, line.uniform_rank) for line in found.rows} == {
        "x": (1, 2),
        "y": (2, 1),
    }


def test_weights_that_rest_on_too_little_give_no_board() -> None:
    found = _board("consistency", repeats={})

    assert (found.rows, found.weights.have, found.weights.need) == ((), 0, 20)


@pytest.mark.parametrize("name", METHODS)
def test_no_rounds_give_no_board(name: str) -> None:
    found = build_weighted_board(name, Evidence((), {}, ()))

    assert (found.rows, found.rounds) == ((), 0)


def test_rounds_of_other_seats_count_together() -> None:
    here = given([[1, 0]], judges="a", members="xy")
    there = given([[1, 0]], judges="b", members="xz")

    found = build_weighted_board("uniform", Evidence((here, there), {}, ()))

    assert {line.member: line.rounds for line in found.rows} == {"x": 2, "y": 1, "z": 1}


def test_an_unknown_name_of_weights_is_an_error() -> None:
    with pytest.raises(ValueError, match="loudness"):
        build_weighted_board("loudness", Evidence((), {}, ()))


FOUR = votes(a_vote("a", "b c d"), a_vote("b", "d a c"))
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


def test_evidence_includes_the_votes_of_people() -> None:
    choices = [Choice("r0", "a")]

    assert build_evidence(rows(FOUR), choices).choices == (Choice("r0", "a"),)


def test_votes_from_before_the_first_release_are_left_out() -> None:
    old = [row._replace(version=FIRST_VERSION - 1) for row in rows(FOUR)]

    assert build_evidence(old, ()).rounds == ()


def test_very_many_rounds_are_split_without_loss() -> None:
    row = rows(FOUR)[0]

    found = build_evidence([row._replace(round_id=str(i)) for i in range(MAX_BLOCK_ROUNDS + 1)], ())

    assert [len(one.rounds) for one in found.rounds] == [MAX_BLOCK_ROUNDS, 1]
    assert found.rounds[1].rounds == (str(MAX_BLOCK_ROUNDS),)
