"""Weights of judges by their consistency, against hand computations."""

import pytest

from council.tally.consistency import Repeats, consistency_weights


def _of(*shares: float, ballots: int = 20) -> dict[str, Repeats]:
    kept = [Repeats(ballots, share) for share in shares]
    return dict(zip("abcdef", kept, strict=False))


# c = 1, .75, .5: (2c − 1)² = 1, .25, 0, of 1.25. A quarter of the way to 1/3:
# .75·.8 + .25/3 = .6833, .75·.2 + .0833 = .2333, .0833.
def test_consistent_judges_weigh_more() -> None:
    found = consistency_weights(_of(1, 0.75, 0.5))

    assert found.is_usable
    assert [*found.weights.values()] == pytest.approx([0.68333, 0.23333, 0.08333], abs=1e-5)
    assert [line.basis for line in found.judges] == [1, 0.75, 0.5]


def test_judges_that_all_vote_by_chance_weigh_alike() -> None:
    found = consistency_weights(_of(0.5, 0.4))

    assert [*found.weights.values()] == pytest.approx([0.5, 0.5])


def test_a_judge_of_too_few_repeats_weighs_as_the_average_one() -> None:
    repeats = _of(1, 0.75) | {"new": Repeats(19, 1.0)}

    found = consistency_weights(repeats, shrunk=0.0)

    assert found.weights["new"] == pytest.approx(1 / 3)
    assert sum(found.weights.values()) == pytest.approx(1)
    assert found.judges[2].basis is None
    assert found.weights["a"] == pytest.approx(2 / 3 * 0.8)


def test_below_twenty_repeats_the_weights_are_not_usable() -> None:
    found = consistency_weights(_of(1, 0.5, ballots=19))

    assert (found.is_usable, found.have, found.need) == (False, 19, 20)
    assert [*found.weights.values()] == [0.5, 0.5]


def test_without_judges_nobody_weighs() -> None:
    assert consistency_weights({}).judges == ()
