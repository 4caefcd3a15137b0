"""Examples of what bake-offs store, put into the database of a home."""

import asyncio
from collections.abc import Awaitable, Callable

from council.bakeoffs.models import Ending
from council.bakeoffs.ports import BakeoffStores
from storage.engine import open_engine
from tests.bot.homes import Home
from tests.builders import ASKED_AT
from tests.council.bakeoffs.builders import a_schedule
from tests.storage.bakeoffs.benches import SUITE, a_bakeoff, sql_bakeoff_stores, suite_of

ENDED = a_bakeoff("bo:ended", ending=Ending(ASKED_AT))


def use_stores(home: Home, act: Callable[[BakeoffStores], Awaitable[None]]) -> None:
    """Use the stores of bake-offs while no program runs."""

    async def run() -> None:
        engine = open_engine(f"sqlite+aiosqlite:///{home.database}")
        await act(sql_bakeoff_stores(engine))
        await engine.dispose()

    asyncio.run(run())


async def one_of_each(bench: BakeoffStores) -> None:
    await bench.suites.save(suite_of("Before?"), "U1", ASKED_AT)
    await bench.suites.save(SUITE, "U1", ASKED_AT)
    await bench.bakeoffs.open(ENDED)
    await bench.schedules.save(a_schedule())


def store_examples(home: Home) -> None:
    use_stores(home, one_of_each)
