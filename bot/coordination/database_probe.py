"""Probe of the database: whether it takes a write, asked now and then."""

import asyncio

from bot.coordination.tasks import BackgroundTasks
from council.errors import CouncilError
from council.ports import KeyValueStore

PROBE_SECONDS = 5.0
READY_TIMEOUT_SECONDS = 2.0  # shorter than the database's own timeout
DATABASE_SILENT = "The database does not answer."


class DatabaseProbe:
    """Finds out what is wrong with the database, at most once in PROBE_SECONDS."""

    def __init__(self) -> None:
        self._began = 0.0
        self._error: asyncio.Future[str] | None = None

    async def error(self, key_values: KeyValueStore, tasks: BackgroundTasks) -> str:
        """Return why nothing can be written, or ""."""
        loop = asyncio.get_running_loop()
        is_old = loop.time() - self._began >= PROBE_SECONDS
        if self._error is None or (self._error.done() and is_old):
            self._began, self._error = loop.time(), loop.create_future()
            # A background task, since a query must not be cancelled.
            tasks.start(_probe(key_values, self._error))
        await asyncio.wait([self._error], timeout=READY_TIMEOUT_SECONDS)
        return self._error.result() if self._error.done() else DATABASE_SILENT


async def _probe(key_values: KeyValueStore, result: "asyncio.Future[str]") -> None:
    try:
        await key_values.check_writable()
    except CouncilError as error:
        result.set_result(str(error))
    else:
        result.set_result("")
    finally:
        if not result.done():  # a bug, which the next probe may not meet
            result.set_result(DATABASE_SILENT)
