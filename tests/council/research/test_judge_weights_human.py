from collections.abc import Sequence

import numpy as np
import pytest

from council.research.judge_weights import Choice, human_weights
from tests.council.research.share_builders import X, given

JUDGES = ("a", "b", "c")
# a and b say x > y > z; c says the opposite.
ROUND = [[1, 0.5, 0], [1, 0.5, 0], [0, 0.5, 1]]


def _weights(votes: int, member: str = "x") -> list[float]:
    one = given(ROUND, judges=JUDGES, members="xyz")
    found = human_weights([one], [Choice("r0", member)] * votes, JUDGES)
    return [*found.weights.values()]


def test_judges_that_predict_what_people_choose_weigh_more() -> None:
    a, b, c = _weights(40)

    assert a == pytest.approx(b)
    assert a > 1 / 3 > c


def test_a_judge_that_predicts_the_opposite_never_has_a_negative_weight() -> None:
    weights = _weights(5_000)

    assert min(weights) >= 0
    assert sum(weights) == pytest.approx(1)


def test_below_twenty_votes_the_weights_are_not_usable() -> None:
    one = given(ROUND, judges=JUDGES, members="xyz")

    found = human_weights([one], [Choice("r0", "x")] * 19, JUDGES)

    assert (found.is_usable, found.have, found.need) == (False, 19, 20)


def test_a_judge_that_ties_everything_or_is_absent_gets_no_evidence_from_votes() -> None:
    one = given([[1, 0], [0.5, 0.5]], judges=("a", "b"), members="xy")
    own = given([[X, 0.5]], judges=("x",), members="xy")

    found = human_weights([one, own], [Choice("r0", "x")] * 20, ("a", "b", "gone", "x"))

    lines = {line.judge: line for line in found.judges}
    assert (lines["a"].n, lines["b"].n, lines["gone"].n, lines["x"].n) == (20, 20, 0, 0)
    assert lines["a"].weight > lines["b"].weight > 0


# A second oracle: the same penalised likelihood, maximised by a library.
def test_the_fit_is_that_of_a_library() -> None:
    from scipy.optimize import minimize_scalar

    one = given(ROUND, judges=JUDGES, members="xyz")
    found = human_weights([one], [Choice("r0", "x")] * 20, JUDGES)

    def loss(slope: float, sides: Sequence[float], centre: float, drawn: float) -> float:
        # People chose x; a and b put it ½ above y and 1 above z, c as far below.
        leads = np.array([[side * 0.5, side] for side in sides])
        told = 10 * np.log1p(np.exp(-slope * leads)).sum()
        return float(told + drawn / 2 * (slope - centre) ** 2)

    common = minimize_scalar(loss, args=((1, 1, -1), 0, 0.1)).x
    expected = [minimize_scalar(loss, args=((side,), common, 4)).x for side in (1, 1, -1)]
    assert [line.basis for line in found.judges] == pytest.approx(expected, abs=1e-5)


def test_judges_that_all_predict_the_opposite_weigh_the_same() -> None:
    one = given([[1, 0], [1, 0]], judges="ab", members="xy")

    found = human_weights([one], [Choice("r0", "y")] * 500, ("a", "b"))

    assert [*found.weights.values()] == [0.5, 0.5]
