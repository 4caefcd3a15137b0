"""Every database operation of these stores ends before a cancel."""

from storage.research.experiments import SqlExperiments
from tests.storage.test_transactions_shielding import assert_all_shielded


def test_every_store_operation_is_retried_and_shielded() -> None:
    assert_all_shielded(SqlExperiments)
