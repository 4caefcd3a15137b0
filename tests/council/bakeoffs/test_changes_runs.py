import numpy as np
import pytest
from scipy import stats

from council.bakeoffs.changes import paired_differences

RNG = np.random.default_rng(1)


def test_with_one_run_before_it_is_the_paired_t_test() -> None:
    now, before = RNG.random((12, 3)), RNG.random((12, 3))

    found = paired_differences(now, before[None])

    expected = stats.ttest_rel(now, before)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.mean == pytest.approx((now - before).mean(axis=0))
    assert found.freedom.tolist() == [11] * 3


def test_the_spread_of_the_past_within_each_question_counts_as_noise() -> None:
    # Past .2 and .4, .5 and .7: within 2·.02 = .04 on 2 degrees of freedom. Differences .1 and .2,
    # deviations ±.05, divided by 1 + ½: .005/1.5 on 1. s² = .043333/3 = .014444;
    # error √(.014444·2·1.5)/2 = .10408; t = .15/.10408 = 1.4412 on 3 would be p = .2452, but two
    # questions that both rose are as likely as ½.
    past = np.array([[[0.2], [0.5]], [[0.4], [0.7]]])

    found = paired_differences(np.array([[0.4], [0.8]]), past)

    assert found.error == pytest.approx([0.104083], abs=1e-6)
    assert found.freedom.tolist() == [3]
    assert found.p.tolist() == [0.5]


def test_questions_without_a_past_or_a_present_do_not_count() -> None:
    now = np.array([[0.5], [0.6], [np.nan], [0.8]])
    past = np.array([[[0.1], [0.4], [0.9], [np.nan]]])

    found = paired_differences(now, past)

    assert found.questions.tolist() == [2]
    assert (found.before.tolist(), found.now.tolist()) == ([0.25], [0.55])


@pytest.mark.parametrize("past", [[[[np.nan], [np.nan]]], [[[0.5], [np.nan]]]])
def test_on_fewer_than_two_questions_nothing_is_known(past: list[list[list[float]]]) -> None:
    found = paired_differences(np.array([[0.1], [0.2]]), np.array(past))

    assert np.isnan(found.mean).all()
    assert found.p.tolist() == [1]


def test_however_alike_its_moves_a_p_is_not_below_that_of_signs() -> None:
    # Six questions of twelve fell from right to wrong: 2·2⁻⁶ by signs, .007 by t.
    now = np.repeat([[0.0], [1.0]], 6, axis=0)

    assert paired_differences(now, np.ones((1, 12, 1))).p.tolist() == [2**-5]
    assert paired_differences(np.zeros((4, 1)), np.ones((1, 4, 1))).p.tolist() == [2**-3]
