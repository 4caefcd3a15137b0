"""Job manager of the queue that survives outages; its statements are in jobs.sql."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job as QueueJob
from procrastinate.jobs import Status
from procrastinate.manager import JobManager, NotificationCallback
from procrastinate.sql import parse_query_file
from psycopg.rows import dict_row

from bot.cluster.connection import (
    UNREACHABLE,
    ConnectionMonitor,
    DatabaseUnavailableError,
    is_connection_error,
    translated_errors,
)

TASK_NAME = "council"  # all jobs are one Procrastinate task
_QUERIES = parse_query_file(files("bot.cluster").joinpath("jobs.sql").read_text(encoding="utf-8"))
STATEMENTS = {name: query.format_map(_QUERIES) for name, query in _QUERIES.items()}

STATEMENT_TIMEOUT_SECONDS = 4.0  # well below `ClusterTimings.stalled_seconds`
RETRY_SECONDS = 0.5

Row = dict[str, Any]
OnFinish = Callable[[QueueJob, Status], Awaitable[None]]
T = TypeVar("T")


class PatientJobManager(JobManager):
    """Procrastinate's job manager, for a database that may be away for a while."""

    def __init__(
        self, connector: PsycopgConnector, monitor: ConnectionMonitor, on_finish: OnFinish
    ) -> None:
        super().__init__(connector)
        self._connector = self.heartbeat_connector = connector
        self._monitor = monitor
        self._on_finish = on_finish

    async def _attempt(self, query: Callable[[], Awaitable[T]]) -> T:
        """Run a query; raise DatabaseUnavailableError if the database does not answer in time."""
        try:
            async with asyncio.timeout(STATEMENT_TIMEOUT_SECONDS):
                result = await query()
        except TimeoutError:
            self._monitor.mark_unreachable()
            raise DatabaseUnavailableError(UNREACHABLE) from None
        except (ConnectorException, psycopg.Error) as error:
            if not is_connection_error(error):
                raise
            self._monitor.mark_unreachable()
            raise DatabaseUnavailableError(UNREACHABLE) from error
        self._monitor.mark_reachable()
        return result

    async def retry(self, query: Callable[[], Awaitable[T]]) -> T:
        """Run a query, again and again until the database answers."""
        while True:
            try:
                return await self._attempt(query)
            except DatabaseUnavailableError:
                await asyncio.sleep(RETRY_SECONDS)

    async def fetch_all(self, statement: str, **values: object) -> list[Row]:
        """Return the rows of a statement of jobs.sql; raise StoreError."""
        execute = self._connector.execute_query_all_async
        with translated_errors():
            return await self._attempt(partial(execute, STATEMENTS[statement], **values))

    async def fetch_all_locked(self, lock: str, statement: str, **values: object) -> list[Row]:
        """Return the rows of a statement that runs while no other one with the same lock does."""

        async def query() -> list[Row]:
            async with self._connector.pool.connection() as connection:
                await connection.execute(STATEMENTS["lock_job"].encode(), {"lock": lock})
                await connection.execute(STATEMENTS["lock_rows"].encode(), {"lock": lock})
                cursor = connection.cursor(row_factory=dict_row)
                await cursor.execute(STATEMENTS[statement].encode(), {"lock": lock, **values})
                return await cursor.fetchall()

        with translated_errors():
            return await self._attempt(query)

    async def execute(self, statement: str, **values: object) -> None:
        """Run a statement without rows; raise StoreError."""
        with translated_errors():
            await self._attempt(
                partial(self._connector.execute_query_async, STATEMENTS[statement], **values)
            )

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> QueueJob | None:
        """Return the next job; None if there is none or the database is away."""
        with suppress(DatabaseUnavailableError):
            return await self._attempt(partial(super().fetch_job, queues, worker_id))
        return None

    async def finish_job(self, job: QueueJob, status: Status, delete_job: bool) -> None:
        """Store how a job ended."""
        await self._on_finish(job, status)

    async def register_worker(self) -> int:
        """Return the id of a new worker, once the database is reachable."""
        return await self.retry(super().register_worker)

    async def unregister_worker(self, worker_id: int) -> None:
        """Delete a worker, unless the database is away."""
        with suppress(DatabaseUnavailableError):
            await self._attempt(partial(super().unregister_worker, worker_id))

    async def update_heartbeat(self, worker_id: int) -> None:
        """Store a heartbeat, once the database is reachable."""
        execute = self.heartbeat_connector.execute_query_async
        await self.retry(partial(execute, STATEMENTS["heartbeat"], worker=worker_id))

    async def prune_stalled_workers(self, seconds_since_heartbeat: float) -> list[int]:
        """Delete no worker: after an outage of the database all of them would look stalled."""
        return []

    async def list_jobs_to_abort_async(self, queue: str | None = None) -> Iterable[int]:
        """Return the jobs that are to be stopped; none if the database is away."""
        with suppress(DatabaseUnavailableError):
            return await self._attempt(partial(super().list_jobs_to_abort_async, queue))
        return ()

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        """Listen for new jobs, and again when the connection breaks."""
        while True:
            try:
                await super().listen_for_jobs(on_notification=on_notification, queues=queues)
            except ConnectorException:
                self._monitor.mark_troubled()
            await asyncio.sleep(RETRY_SECONDS)
