"""Every database operation of these stores ends before a cancel."""

from storage.bakeoffs.bakeoffs import SqlBakeoffs, SqlSchedules, SqlSuites
from storage.bakeoffs.records import SqlRecords
from tests.storage.test_transactions_shielding import assert_all_shielded


def test_every_store_operation_is_retried_and_shielded() -> None:
    assert_all_shielded(SqlSuites, SqlBakeoffs, SqlSchedules, SqlRecords)
