"""The database opened for whoever only reads and writes it: quicker than a desk, without models."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.settings import Settings
from council.bakeoffs.ports import Bench
from council.errors import StoreError
from council.ports import Chain, Ledger
from council.research.experiment import Experiments
from storage.bakeoffs import SqlBakeoffs, SqlSchedules, SqlSuites
from storage.engine import check_opens, open_engine
from storage.experiments import SqlExperiments
from storage.hash_chain import SqlChain
from storage.ledger import SqlLedger
from storage.migrate import upgrade
from storage.records import SqlRecords, sql_votes
from storage.rounds import SqlStore


@asynccontextmanager
async def opened_store(settings: Settings) -> AsyncIterator[SqlStore]:
    """Give the store, its schema up to date."""
    async with opened_engine(settings) as engine:
        yield SqlStore(engine)


@asynccontextmanager
async def opened_engine(settings: Settings) -> AsyncIterator[AsyncEngine]:
    """Give the database, its schema up to date; the data folder is made where it is missing."""
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The data folder {settings.data_dir} cannot be made ({error.strerror}): name another "
            "in COUNCIL_DATA_DIR."
        ) from None
    if settings.database_file:
        check_opens(settings.database_file)
    engine = open_engine(settings.database)
    try:
        await upgrade(engine)
        yield engine
    finally:
        await engine.dispose()


@dataclass(frozen=True, slots=True)
class Books:
    """All that is kept, for whoever only reads and writes it."""

    store: SqlStore
    bench: Bench
    chain: Chain
    experiments: Experiments
    ledger: Ledger


@asynccontextmanager
async def opened_books(settings: Settings) -> AsyncIterator[Books]:
    """Give all that is kept, the schema up to date; no models."""
    async with opened_engine(settings) as engine:
        kept = (SqlStore(engine), bench_of(engine), SqlChain(engine), SqlExperiments(engine))
        yield Books(*kept, SqlLedger(engine))


def bench_of(engine: AsyncEngine) -> Bench:
    """Give all that bake-offs are kept in."""
    numbers = (SqlRecords(engine), sql_votes(engine))
    return Bench(SqlSuites(engine), SqlBakeoffs(engine), SqlSchedules(engine), *numbers)
