"""Records of rounds whose judges have weights."""

import pytest

from council.bakeoffs.records import build_record
from council.tally.borda import counted_ballots, pair_matrix
from tests.council.test_round_rules_consistency import HEAVY, weighted_round


async def test_records_hold_the_weighted_shares_of_pairs() -> None:
    round_ = await weighted_round("both-orders")
    assert round_.draw
    by_label = pair_matrix(counted_ballots(round_.ballots), HEAVY)
    label_of = dict(round_.draw.labels.pairs)

    record = build_record(round_)

    assert {one.won for one in record.margins} != {0.5}
    assert all(
        one.won == pytest.approx(by_label[label_of[one.first], label_of[one.second]])
        for one in record.margins
    )
