"""Rows in every table of bake-offs."""

from sqlalchemy.ext.asyncio import AsyncEngine

from tests.builders import ASKED_AT
from tests.council.bakeoffs.builders import a_schedule
from tests.storage.bakeoffs.benches import SUITE, a_bakeoff, a_record, sql_bakeoff_stores
from tests.storage.bakeoffs.test_records import a_votes

TABLES = "suite suite_body bakeoff schedule source record votes"


async def store_rows(engine: AsyncEngine) -> None:
    """Store something in every table, next to a round `full`."""
    stores = sql_bakeoff_stores(engine)
    await stores.suites.save(SUITE, "U1", ASKED_AT)
    await stores.bakeoffs.open(a_bakeoff())
    await stores.schedules.save(a_schedule())
    await stores.records.save([a_record("full")])
    await stores.votes.save([a_votes("full")])
