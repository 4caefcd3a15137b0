import numpy as np
import pytest

from council.ballots import Ballot
from council.research.judge_weights import (
    Choice,
    cohen_kappa,
    human_agreement,
    peer_rank,
    peer_weights,
    weighted_shares,
)
from council.research.simulated_judges import simulated_rounds, uniform_panel
from council.tally import standings
from tests.council.research.share_builders import E1, X, given

ROUND = [[1, 0.5, 0], [0.75, 0.75, 0], [0.5, 1, 0], [X, X, X]]


def _votes(member: str, count: int, round_id: str = "r0") -> list[Choice]:
    return [Choice(round_id, member)] * count


def test_a_judge_agrees_where_it_puts_the_chosen_answer_above_each_other_one() -> None:
    found = human_agreement([given(ROUND, members="xyz")], _votes("x", 15) + _votes("y", 5))

    assert {judge: (one.same, one.ballots) for judge, one in found.items()} == {
        "ada": (15, 20),
        "bob": (0, 20),
        "cyd": (5, 20),
    }
    assert found["ada"].share == 0.75
    assert found["ada"].ci == pytest.approx((0.531, 0.888), abs=0.001)


def test_nineteen_votes_say_too_little() -> None:
    assert human_agreement([given(ROUND, members="xyz")], _votes("x", 19)) == {}


def test_votes_on_other_rounds_and_other_members_are_left_out() -> None:
    elsewhere = _votes("x", 10, "r9") + _votes("nobody", 10)

    assert human_agreement([given(ROUND, members="xyz")], [*elsewhere, *_votes("x", 19)]) == {}


def test_a_judge_is_not_asked_about_its_own_answer() -> None:
    own = given([[X, 1, 0]], judges=["x"], members="xyz")

    assert human_agreement([own], _votes("x", 20)) == {}


def test_members_weigh_by_what_their_answers_are_worth_with_a_floor_of_a_quarter() -> None:
    one = given(E1)

    found = peer_weights([one])

    assert [*found.weights.values()] == pytest.approx(peer_rank(one.shares[0]).weights.tolist())
    assert min(found.weights.values()) == pytest.approx(0.25 / 4)
    assert found.judges[0].basis == pytest.approx(0.85, abs=0.1)


def test_shares_are_taken_over_all_rounds() -> None:
    turned = [[X, 0, 0.5, 1], [0, X, 0.75, 0.75], [0, 0.75, X, 0.75], [0.5, 0, 1, X]]

    found = peer_weights([given(E1, turned)])

    assert [*found.weights.values()] == pytest.approx([0.25] * 4)


def test_a_judge_without_answers_weighs_as_the_average_one() -> None:
    outside = given([[X, 1], [1, X], [1, 0]], judges=("a", "b", "out"), members=("a", "b"))

    found = peer_weights([outside])

    assert found.weights["out"] == pytest.approx(1 / 3)
    assert sum(found.weights.values()) == pytest.approx(1)
    assert found.judges[2].basis is None


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


# p = 3/4. Of four votes ada picks x, x, y, y and people x, x, y, x:
# chance = ½·¾ + ½·¼ = ½, so κ = (¾ − ½)/(1 − ½) = ½.
PICKS = [("x", "x"), ("x", "x"), ("y", "y"), ("y", "x")]


def test_kappa_is_agreement_beyond_chance() -> None:
    assert cohen_kappa(PICKS) == pytest.approx(0.5)
    # Three picks, in 100 votes: 25 13 12 / 12 2 16 / 3 15 2.
    cells = {"aa": 25, "ab": 13, "ac": 12, "ba": 12, "bb": 2, "bc": 16, "ca": 3, "cb": 15, "cc": 2}
    pairs = [(cell[0], cell[1]) for cell, count in cells.items() for _ in range(count)]
    # p = .29; chance = .5·.4 + .3·.3 + .2·.3 = .35; κ = −.06/.65.
    assert cohen_kappa(pairs) == pytest.approx(-0.06 / 0.65)


def test_a_tie_agrees_with_nothing() -> None:
    # p = ½; chance = ½·1 of x; κ = 0.
    assert cohen_kappa([("x", "x"), ("", "x")]) == pytest.approx(0)


def test_kappa_is_unknown_where_both_always_pick_the_same_one() -> None:
    assert cohen_kappa([("x", "x")] * 5) is None


# Eight rounds of three equal votes each, twice as in PICKS: κ = ½. Without one round it is
# - 4 times (5/7 − 23/49)/(1 − 23/49) = 12/26, without an x, x
# - 2 times (5/7 − 27/49)/(1 − 27/49) = 8/22, without a y, y
# - 2 times (6/7 − 26/49)/(1 − 26/49) = 16/23, without a y, x.
# Mean .4956, sum of squares .1195, error √(⅞·.1195) = .3234; t(7) = 2.3646: ½ − .7647.
def test_the_interval_of_kappa_is_a_jackknife_over_rounds() -> None:
    x_first, y_first = [[1, 0.5, 0]], [[0.5, 1, 0]]
    rounds = given(*[x_first, x_first, y_first, y_first] * 2, judges=["ada"], members="xyz")
    cast = [vote for i, best in enumerate("xxyx" * 2) for vote in _votes(best, 3, f"r{i}")]

    found = human_agreement([rounds], cast)["ada"]

    assert (found.same, found.ballots) == (18, 24)
    assert found.kappa == pytest.approx(0.5)
    assert found.kappa_ci == pytest.approx((-0.2647, 1.0), abs=1e-4)


def test_rounds_that_are_all_alike_leave_doubt() -> None:
    x_first, y_first = [[1, 0.5, 0]], [[0.5, 1, 0]]
    rounds = given(*[x_first, y_first] * 10, judges=["ada"], members="xyz")
    cast = [Choice(f"r{i}", "xy"[i % 2]) for i in range(20)]

    found = human_agreement([rounds], cast)["ada"]

    # All of 20: Wilson's lower end is .8389, and (.8389 − ½)/(1 − ½) = .6777.
    assert found.kappa == 1
    assert found.kappa_ci == pytest.approx((0.678, 1.0), abs=1e-3)


def test_one_round_gives_kappa_no_interval() -> None:
    cast = _votes("x", 15) + _votes("y", 5)

    found = human_agreement([given(ROUND, members="xyz")], cast)

    assert {one.kappa_ci for one in found.values()} == {None}
