"""What methods gain over blind ranking among strongly biased judges; a sample of the bench."""

import numpy as np
import pytest

from council.research.simulated_judges import STRONG, simulated_rounds, uniform_panel
from council.tally import standings
from council.tally.agreement import tau_b
from tests.bench.methods import MEMBERS, gains, grading_gains, shares_by_round, taus


@pytest.mark.parametrize("members", MEMBERS)
def test_both_orders_and_outside_judges_find_more_than_blind_ranking(members: int) -> None:
    found = [*gains(members, 3_000)]

    assert [gain.method for gain in found if gain.is_missed] == []
    assert [gain.target is None for gain in found] == [True, False, False, True]


def test_mean_grades_help_judges_who_give_nearly_everybody_the_same_grade() -> None:
    wide, half, narrow = grading_gains(5, 3_000)

    assert abs(wide.gain) < 0.02
    assert wide.gain < half.gain < narrow.gain
    assert narrow.interval[0] > 0.1


def test_the_bench_counts_as_the_product_does() -> None:
    simulated = simulated_rounds(uniform_panel(4, STRONG), 3, "s")

    shares = shares_by_round(simulated.counted.by_member(4))
    found = taus(shares, simulated.answers.worth)

    for i, worth in enumerate(simulated.answers.worth):
        labels = simulated.labels[i].labels
        lines = standings(labels, simulated.ballots(simulated.counted, i))
        official = {line.label: line.share for line in lines}
        np.testing.assert_allclose(shares[i], [official[label] or 0.0 for label in labels])
        places = {line.label: -float(line.place) for line in lines}
        assert found[i] == pytest.approx(tau_b(places, dict(zip(labels, worth, strict=True))) or 0)
