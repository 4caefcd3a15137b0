"""Consistency weights, checked against the gold labels of LLMBar; the weights never see a label."""

import pytest

from tests.bench.llmbar import DATA, agreement, alone, consistency, peers, read, uniform

pytestmark = pytest.mark.skipif(
    not (DATA / "llmbar_verdicts.jsonl").exists(), reason="no ../shared/data beside this repository"
)


def test_order_consistency_agrees_with_gold_labels_far_more_than_equal_weights() -> None:
    verdicts = read()

    assert len(verdicts.gold) == 415
    assert agreement(verdicts, uniform(verdicts)) == pytest.approx(0.602, abs=5e-4)
    assert agreement(verdicts, consistency(verdicts)) >= 0.80
    assert agreement(verdicts, consistency(verdicts, 0.0)) == pytest.approx(0.825, abs=5e-4)
    assert max(own for _, own in alone(verdicts)) == pytest.approx(0.843, abs=5e-4)


def test_peer_rank_does_worse_than_equal_weights_there() -> None:
    verdicts = read()

    assert agreement(verdicts, peers(verdicts)) < agreement(verdicts, uniform(verdicts))
