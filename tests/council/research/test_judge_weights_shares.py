import numpy as np
import pytest

from council.ballots import Ballot
from council.research.judge_weights import weighted_shares
from council.research.simulated_judges import simulated_rounds, uniform_panel
from council.tally import standings
from tests.council.research.share_builders import E1, X, given


def test_equal_weights_give_the_official_shares_of_any_round() -> None:
    rounds = simulated_rounds(uniform_panel(5), 20, "seed")
    ballots: list[tuple[Ballot, ...]] = [rounds.ballots(rounds.counted, i) for i in range(20)]
    one = given(*rounds.counted.by_member(5), judges="abcde", members="abcde")

    shares = weighted_shares(one, np.full(5, 3.0))

    for i, own in enumerate(ballots):
        labels = rounds.labels[i].labels
        official = {line.label: line.share for line in standings(labels, own)}
        assert shares[i].tolist() == pytest.approx([official[label] for label in labels])


def test_a_heavier_judge_draws_pairs_its_way() -> None:
    shares = weighted_shares(given(E1), np.array([1, 1, 1, 3]))

    # A against B: C says A, D says B three times: 1/4. Against C: B and D say A: 1.
    # Against D: B and C say A: 1. The mean is .75.
    assert shares[0, 0] == pytest.approx(0.75)


def test_pairs_nobody_saw_are_left_out() -> None:
    one = given([[X, 1, 0], [X, X, X], [X, X, X]], judges="abc", members="abc")

    shares = weighted_shares(one, np.ones(3))

    assert np.array_equal(shares[0], [np.nan, 1, 0], equal_nan=True)


def test_a_judge_without_weight_alone_leaves_its_pairs_out() -> None:
    one = given([[X, 1, 0], [1, X, 0], [X, X, X]], judges="abc", members="abc")

    shares = weighted_shares(one, np.array([0, 1, 1]))

    assert np.array_equal(shares[0], [1, np.nan, 0], equal_nan=True)


def test_shares_in_single_precision_tie_where_ballots_did() -> None:
    third = float(np.float32(1 / 3))
    one = given([[third, third + 1e-8]], judges="j", members="ab")

    assert weighted_shares(one, np.ones(1)).tolist() == [[0.5, 0.5]]
