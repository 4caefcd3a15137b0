import numpy as np
import pytest

from council.research.judge_weights import peer_rank
from council.tally.borda import borda_shares
from tests.council.tally.examples import E1

RATES = np.array(
    [[borda_shares(ballot.ranking).get(label, np.nan) for label in "ABCD"] for ballot in E1]  # type: ignore[call-overload]  # letters are labels
)


def test_the_worked_example_comes_out() -> None:
    found = peer_rank(RATES, floor=0)

    assert found.weights == pytest.approx([0.476, 0.382, 0.141, 0], abs=1e-3)
    assert found.turns == 18


def test_the_floor_gives_every_judge_some_weight() -> None:
    found = peer_rank(RATES)

    assert found.weights.min() >= 0.25 / 4 - 1e-12
    assert found.weights.sum() == pytest.approx(1)


def test_a_candidate_shown_to_no_judge_scores_zero() -> None:
    rates = np.array([[np.nan, 1.0, np.nan], [1.0, np.nan, np.nan], [1.0, 0.0, np.nan]])

    assert peer_rank(rates).scores[2] == 0


def test_weights_that_do_not_settle_are_left_after_the_most_turns() -> None:
    assert peer_rank(RATES, most_turns=3).turns == 3
