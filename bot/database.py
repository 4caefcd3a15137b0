"""The database and its stores, for commands that need no models; `bot/bootstrap.py` adds these.

What plug-ins store is opened when it is used.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.plugins import Parts, Plugins
from bot.settings import Settings
from bot.settings.panels import load_plugins, stored_registry
from council.errors import StoreError
from council.ports import Ledger
from council.registry import Registry
from storage.archive import SqlArchive, list_unknown_tables
from storage.engine import check_file_opens, open_engine
from storage.hash_chain import SqlHashChain
from storage.hooks import RoundHooks
from storage.ledger import SqlLedger
from storage.migrate import upgrade
from storage.rounds import SqlRoundStore


@dataclass(frozen=True, slots=True)
class Stores:
    """All stores, for commands that need no models; `parts` are what plug-ins add.

    `archive` has the rest of an export, which is neither rounds nor items of plug-ins.
    `unknown_tables` returns the tables with rows that no plug-in of this program reads.
    """

    store: SqlRoundStore
    chain: SqlHashChain
    ledger: Ledger
    archive: SqlArchive
    parts: Parts
    plugins: Plugins
    registry: Registry
    unknown_tables: Callable[[], Awaitable[Sequence[str]]]


@asynccontextmanager
async def open_stores(settings: Settings) -> AsyncIterator[Stores]:
    """Yield all stores, their schema up to date; no models."""
    plugins = load_plugins(settings.config_file)  # faults of panels concern no duty
    parts = Parts()
    async with open_database(settings) as engine:
        parts.add_later(object, partial(open_plugin_stores, engine, settings, plugins))
        yield Stores(
            open_round_store(engine, plugins),
            SqlHashChain(engine),
            SqlLedger(engine),
            SqlArchive(engine),
            parts,
            plugins,
            stored_registry(plugins),
            partial(list_unknown_tables, engine),
        )


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[AsyncEngine]:
    """Yield the database engine, its schema up to date; create the data folder if missing."""
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The data folder {settings.data_dir} can't be created ({error.strerror}). Set "
            "COUNCIL_DATA_DIR to another one."
        ) from None
    if settings.database_file:
        check_file_opens(settings.database_file)
    engine = open_engine(settings.database)
    try:
        await upgrade(engine)
        _make_private(settings)
        yield engine
    finally:
        await engine.dispose()


def _make_private(settings: Settings) -> None:
    """Restrict the data folder and its database to this user, also those of older versions."""
    file = settings.database_file
    files = [] if file is None else [file, *file.parent.glob(f"{file.name}-*")]
    for path, mode in [(settings.data_dir, 0o700), *((file, 0o600) for file in files)]:
        with suppress(OSError):  # another user's folder, or a file that is gone
            path.chmod(mode)


def open_round_store(engine: AsyncEngine, plugins: Plugins) -> SqlRoundStore:
    """Return the store of rounds, with the hooks of all plug-ins that are present."""
    return SqlRoundStore(engine, _ForgettingHooks(plugins), stored_registry(plugins))


@dataclass(frozen=True, slots=True)
class _ForgettingHooks:
    """What plug-ins do when rounds are forgotten, imported at that moment."""

    plugins: Plugins

    def __iter__(self) -> Iterator[RoundHooks]:
        """Yield the hooks of each plug-in."""
        for new_hooks in self.plugins.load_duties(lambda plugin: plugin.on_forgotten):
            yield new_hooks()


def open_plugin_stores(engine: AsyncEngine, settings: Settings, plugins: Plugins) -> list[object]:
    """Return the stores of all plug-ins that are present: what is stored outlives a switch."""
    opened = plugins.load_duties(lambda plugin: plugin.stores)
    return [store for open_stores in opened for store in open_stores(engine, settings)]
