"""Traits of winners, compared with the rest of each round."""

import pytest

from council.bias.report import Trait
from council.bias.style_bias import winning_traits
from council.bias.votes import Votes, WrittenAnswer
from tests.council.bias.vote_builders import PLAIN, a_vote, blocks_of, votes


def _round(*written: WrittenAnswer) -> Votes:
    return votes(a_vote("a", "b c d"), written=written)


def _traits(*rounds: Votes) -> dict[str, Trait]:
    return {trait.name: trait for trait in winning_traits(blocks_of(*rounds))}


def _long(length: int) -> Votes:
    return _round(
        WrittenAnswer("a", True, length, (0, 0, 2, 0)),
        WrittenAnswer("b", False, 100, PLAIN),
        WrittenAnswer("c", False, 60, (0, 0, 1, 0)),
    )


def test_winners_are_compared_with_the_mean_of_the_rest() -> None:
    found = _traits(_long(100), _long(120), _long(140))

    assert found["length"].winners == pytest.approx(120)
    assert found["length"].rest == pytest.approx(80)
    # 20, 40 and 60: a mean of 40, and t = 40 / (20/√3).
    assert found["length"].difference.value == pytest.approx(40)
    assert (found["length"].difference.n, found["length"].difference.unit) == (3, "rounds")
    assert found["bold"].winners == 1.0
    assert found["bold"].rest == 0.5
    assert found["lists"].difference.value == 0.0
    assert [*found] == ["length", "lists", "headings", "bold", "code"]


def test_winners_that_share_the_first_place_count_by_their_mean() -> None:
    tied = _round(
        WrittenAnswer("a", True, 100, PLAIN),
        WrittenAnswer("b", True, 300, PLAIN),
        WrittenAnswer("c", False, 50, PLAIN),
    )

    assert _traits(tied, tied, tied)["length"].winners == 200


def test_rounds_in_which_all_or_none_won_are_left_out() -> None:
    every = _round(WrittenAnswer("a", True, 100, PLAIN), WrittenAnswer("b", True, 300, PLAIN))
    none = _round(WrittenAnswer("a", False, 100, PLAIN), WrittenAnswer("b", False, 300, PLAIN))

    found = _traits(every, none, every)["length"]

    assert (found.winners, found.rest, found.difference.n) == (None, None, 0)


def test_no_rounds_give_no_traits() -> None:
    assert {trait.difference.n for trait in winning_traits(())} == {0}
