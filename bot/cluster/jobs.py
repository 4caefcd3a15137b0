"""Procrastinate's jobs for a database that may be away for a while: living work goes on meanwhile.

Its worker ends where the database does not answer, and what it does is done by others then.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager, NotificationCallback
from psycopg.rows import dict_row

from bot.cluster import statements
from bot.cluster.contact import Contact
from bot.cluster.faults import AWAY, AwayError, is_away

ANSWER_SECONDS = 4.0  # well within the silence that others bear
PAUSE_SECONDS = 0.5

Row = dict[str, Any]
Finish = Callable[[Job, Status], Awaitable[None]]
T = TypeVar("T")


class PatientJobs(JobManager):
    """Takes jobs and gives them back, and waits where the database is away.

    `on_finish` ends a job. Heartbeats go through `pulse`: whoever lives is heard of, however many
    wait for a connection.
    """

    def __init__(self, connector: PsycopgConnector, contact: Contact, on_finish: Finish) -> None:
        super().__init__(connector)
        self._own = self.pulse = connector
        self._contact = contact
        self._on_finish = on_finish

    async def reached(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Give what the database says; raise AwayError where it does not answer."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                said = await ask()
        except TimeoutError:
            self._contact.lost()
            raise AwayError(AWAY) from None
        except (ConnectorException, psycopg.Error) as error:
            if not is_away(error):
                raise
            self._contact.lost()
            raise AwayError(AWAY) from error
        self._contact.found()
        return said

    async def insisted(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Give what the database says, however long that takes."""
        while True:
            try:
                return await self.reached(ask)
            except AwayError:
                await asyncio.sleep(PAUSE_SECONDS)

    async def rows(self, statement: str, **values: object) -> list[Row]:
        """Give the rows of one statement; raise AwayError where the database does not answer."""

        async def ask() -> list[Row]:
            # Its authors want nothing but texts that stand in the code, as ours do.
            return await self.connector.execute_query_all_async(statement, **values)

        return await self.reached(ask)

    async def rows_in_line(self, lock: str, statement: str, **values: object) -> list[Row]:
        """Do as `rows`, one after another for a lock: each sees what the one before has done."""

        async def ask() -> list[Row]:
            async with self._own.pool.connection() as connection:
                await connection.execute(statements.WAIT_IN_LINE, {"lock": lock})
                cursor = connection.cursor(row_factory=dict_row)
                await cursor.execute(statement.encode(), {"lock": lock, **values})
                return await cursor.fetchall()

        return await self.reached(ask)

    async def done(self, statement: str, **values: object) -> None:
        """Do what a statement without rows says; raise AwayError as `rows` does."""

        async def ask() -> None:
            await self.connector.execute_query_async(statement, **values)

        await self.reached(ask)

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Give the next job, or None, as where the database is away."""

        async def ask() -> Job | None:
            return await super(PatientJobs, self).fetch_job(queues, worker_id)

        try:
            return await self.reached(ask)
        except AwayError:
            return None

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """End a job as its work ended."""
        await self._on_finish(job, status)

    async def register_worker(self) -> int:
        """Give the number of a new worker, once the database is there."""
        return await self.insisted(super().register_worker)

    async def unregister_worker(self, worker_id: int) -> None:
        """Strike a worker off, where the database is there."""

        async def ask() -> None:
            await super(PatientJobs, self).unregister_worker(worker_id)

        try:
            await self.reached(ask)
        except AwayError:
            return

    async def update_heartbeat(self, worker_id: int) -> None:
        """Let a worker be heard of, once the database is there."""

        async def ask() -> None:
            await self.pulse.execute_query_async(statements.HEARTBEAT, worker=worker_id)

        await self.insisted(ask)

    async def prune_stalled_workers(self, seconds_since_heartbeat: float) -> list[int]:
        """Strike nobody off: after the database was away all look stalled to who comes first."""
        return []

    async def list_jobs_to_abort_async(self, queue: str | None = None) -> Iterable[int]:
        """Give the jobs that are to be stopped; none where the database is away."""

        async def ask() -> Iterable[int]:
            return await super(PatientJobs, self).list_jobs_to_abort_async(queue)

        try:
            return await self.reached(ask)
        except AwayError:
            return ()

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        """Hear of new jobs, again and again where the connection breaks."""
        while True:
            try:
                await super().listen_for_jobs(on_notification=on_notification, queues=queues)
            except ConnectorException:
                self._contact.stumbled()
            await asyncio.sleep(PAUSE_SECONDS)
