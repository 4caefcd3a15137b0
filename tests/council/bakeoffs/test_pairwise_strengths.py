from math import log

import numpy as np
import pytest
from scipy import optimize

from council.bakeoffs.pairwise import strengths
from council.tally.bradley_terry import RIDGE
from tests.council.bakeoffs.record_builders import a_record, board_of, drawn_ballots, of


def test_strength_is_the_share_against_every_other_member() -> None:
    # ada beat bob in three rounds of four: d = s_a − s_b solves 4·σ(d) = 3 − ridge·d/2.
    wins = [a_record({"ada": 1.0, "bob": 0.0}, number=i) for i in range(1, 4)]

    found = strengths(of(*wins, a_record({"ada": 0.0, "bob": 1.0}, number=4)))

    gap = optimize.brentq(lambda d: 4 / (1 + np.exp(-d)) - 3 + RIDGE * d / 2, -9, 9)
    assert gap == pytest.approx(log(3), abs=0.1)
    assert found["ada"].share == pytest.approx(1 / (1 + np.exp(-gap)))
    assert found["ada"].share + found["bob"].share == pytest.approx(1)


def test_strengths_are_the_most_likely_ones() -> None:
    rng = np.random.default_rng(4)
    rounds = [
        a_record({"ada": a, "bob": b, "cyd": c}, number=i)
        for i, (a, b, c) in enumerate(rng.random((30, 3)), 1)
    ]
    columns = of(*rounds)

    found = strengths(columns)

    def loss(scores: np.ndarray) -> float:
        total = RIDGE / 2 * float(scores @ scores)
        for i, one in enumerate(columns.members):
            for j, other in enumerate(columns.members):
                if i != j:
                    won = columns.won(one, other).sum()
                    total += won * np.log1p(np.exp(scores[j] - scores[i]))
        return float(total)

    s = optimize.minimize(loss, np.zeros(3), tol=1e-10).x
    expected = np.mean([1 / (1 + np.exp(s[j] - s[0])) for j in (1, 2)])
    assert found["ada"].share == pytest.approx(expected, abs=1e-4)


def test_a_member_that_met_no_other_has_no_strength() -> None:
    found = strengths(of(a_record({"ada": 1.0, "bob": 0.0}), a_record({"cyd": None}, number=2)))

    assert set(found) == {"ada", "bob"}
    assert strengths(of(a_record({"cyd": None}))) == {}
    assert strengths(of()) == {}


def test_one_round_leaves_everything_open() -> None:
    assert strengths(of(a_record({"ada": 1.0, "bob": 0.0})))["ada"].ci == (0, 1)


def test_intervals_allow_for_answers_that_all_judges_see_alike() -> None:
    rng = np.random.default_rng(9)
    worth = np.tile([0.6, 0.2, 0.0, -0.2, -0.6], (120, 40, 1))
    drawn = drawn_ballots(rng, worth, agreement=0.5)
    many = strengths(board_of(drawn.reshape(-1, 5, 5)))

    held = [
        line.ci[0] <= many[member].share <= line.ci[1]
        for ballots in drawn
        for member, line in strengths(board_of(ballots)).items()
    ]

    assert np.mean(held) >= 0.93
