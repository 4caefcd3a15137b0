"""The permutation test of slots, and consistency."""

from itertools import permutations, product

import numpy as np
import pytest

from council.bakeoffs.bias.effects import MAX_SHUFFLED_BALLOTS, slot_test
from council.bakeoffs.bias.judge_bias import order_consistency, position_bias
from council.bakeoffs.bias.report import Effect
from council.bakeoffs.bias.votes import Votes
from council.bakeoffs.intervals import share_interval
from tests.council.bakeoffs.bias.vote_builders import a_vote, an_audit, blocks_of, votes


def _by_slot(*orders: str) -> list[Votes]:
    """Return rounds in which a ranks what it sees in the order it sees it."""
    return [votes(a_vote("a", order, shown=order)) for order in orders]


def test_a_judge_that_votes_by_slot_gives_each_slot_the_same() -> None:
    orders = ["b c d", "c d b", "d b c"] * 8

    found = position_bias(blocks_of(*_by_slot(*orders)))["a"]

    assert [slot.effect.value for slot in found.slots] == pytest.approx([0.5, 0.0, -0.5])
    assert [slot.number for slot in found.slots] == [1, 2, 3]
    assert found.first_slot.value == pytest.approx(0.5)
    assert found.first_slot.p
    assert found.first_slot.p < 1e-6
    assert found.whole.p
    assert found.whole.p < 1e-3
    assert found.whole.value == pytest.approx(0.5)
    assert found.whole.more == 0


def test_slates_of_other_sizes_count_slot_by_slot() -> None:
    two = votes(a_vote("a", "c b", shown="c b"))
    found = position_bias(blocks_of(*_by_slot("b c d", "d c b"), two, two))["a"].slots

    assert [slot.effect.n for slot in found] == [4, 4, 2]
    assert found[1].effect.value == pytest.approx((0 + 0 - 0.5 - 0.5) / 4)
    assert found[2].effect == Effect(2, "ballots")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_ballots_give_no_effect(count: int) -> None:
    other = votes(a_vote("b", "a c d"))

    found = position_bias(blocks_of(other, *_by_slot(*["b c d"] * count)))["a"]

    assert found.first_slot == Effect(count, "ballots")
    assert found.whole == Effect(count, "ballots")
    assert len(found.slots) == (3 if count else 0)


def test_a_judge_that_ties_all_has_no_slot_effect() -> None:
    rounds = [votes(a_vote("a", "b=c=d")) for _ in range(10)]

    found = position_bias(blocks_of(*rounds))["a"]

    assert found.whole == Effect(10, "ballots")
    assert (found.first_slot.value, found.first_slot.p) == (0.0, 1.0)


def test_a_slot_that_was_only_ever_tied_cannot_stand_out() -> None:
    tied, strict = np.zeros((3, 3)), np.array([[0.5, -0.5]] * 6)

    found = slot_test([strict, tied])

    assert found
    assert found.most == 0
    assert found.p < 0.1


def test_the_p_value_is_that_of_a_permutation_test() -> None:
    ballots = np.array([[0.5, 0.0, -0.5], [0.5, -0.5, 0.0], [0.0, 0.5, -0.5], [0.5, 0.0, -0.5]])
    # All 6⁴ ways of dealing, in which every slot has the same standard deviation.
    largest = abs(ballots.sum(axis=0)).max()
    dealt = product(*(list(permutations(row)) for row in ballots))
    sums = np.array([np.sum(each, axis=0) for each in dealt])
    exact = (np.abs(sums).max(axis=1) >= largest - 1e-9).mean()

    found = slot_test([ballots])

    assert found
    # 2,000 draws have a standard deviation of .009 here.
    assert found.p == pytest.approx(exact, abs=0.03)


def test_above_a_hundred_ballots_the_normal_limit_agrees() -> None:
    chance = np.random.RandomState(5)
    dealt = chance.random_sample((MAX_SHUFFLED_BALLOTS, 4)).argsort(axis=1) / 3 - 0.5
    tie = np.zeros((1, 4))  # one ballot more, which changes nothing
    few, many = slot_test([dealt]), slot_test([np.concatenate([dealt, tie])])

    assert few
    assert many
    assert many.p == pytest.approx(few.p, abs=0.04)
    assert many.needed == pytest.approx(few.needed, rel=0.1)


def _again(first: str, again: str) -> Votes:
    audit = a_vote("a", again, shown=" ".join(reversed("bcd")))
    return votes(a_vote("a", first), audit=an_audit("order", audit))


def test_pairs_that_stand_as_before_are_kept() -> None:
    rounds = [_again("b c d", "b c d"), _again("b c d", "d c b"), _again("b c d", "b d=c")]

    found = order_consistency(blocks_of(*rounds))

    # All of three, none, and two: a tie on one of them alone is a change.
    assert found["a"].value == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert found["a"].interval == share_interval(np.array([1.0, 0.0, 2 / 3]))
    assert (found["a"].n, found["a"].unit, found["a"].p) == (3, "audit ballots", None)
    assert found["b"] == Effect(0, "audit ballots")


def test_other_kinds_of_audits_say_nothing_of_order() -> None:
    own = votes(a_vote("a", "b c d"), audit=an_audit("own", a_vote("a", "a b c d")))

    assert order_consistency(blocks_of(own))["a"].n == 0


def test_an_unbiased_judge_favours_no_slot() -> None:
    rounds = [votes(a_vote("a", "b c d", shown=" ".join(order))) for order in permutations("bcd")]

    found = position_bias(blocks_of(*rounds))["a"]

    assert found.first_slot.value == pytest.approx(0.0)
    assert found.whole.p == pytest.approx(1.0, abs=0.1)
    assert found.whole.more is None


def test_a_judge_counts_only_in_the_rounds_it_sat_in() -> None:
    other = votes(a_vote("x", "y z"), judges=tuple("xyz"), makers=("m", "n", "o"), members=3)

    found = position_bias(blocks_of(*_by_slot("b c d"), other))

    assert (found["a"].first_slot.n, found["x"].first_slot.n) == (1, 1)
