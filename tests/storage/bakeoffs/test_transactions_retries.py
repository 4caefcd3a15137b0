"""Operations on schedules are retried after a lost connection, and take effect once."""

from sqlalchemy.ext.asyncio import AsyncEngine

from storage.bakeoffs.bakeoffs import SqlSchedules
from tests.council.bakeoffs.builders import a_schedule
from tests.storage.test_transactions_retries import lose_commits


async def test_a_slot_is_taken_although_the_first_answer_was_lost(
    server_engine: AsyncEngine,
) -> None:
    schedules = SqlSchedules(server_engine)
    await schedules.save(a_schedule())
    lose_commits(server_engine, 1)

    assert await schedules.claim_slot("s1", "2026-11-30T09:00")
    assert not await schedules.claim_slot("s1", "2026-11-30T09:00")
