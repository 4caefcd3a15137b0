"""What is asked of Procrastinate's tables in one statement each, so that nothing comes between."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job as QueueJob
from procrastinate.jobs import Status
from procrastinate.manager import JobManager, NotificationCallback
from psycopg.rows import dict_row

from bot.cluster.connection import AWAY, ConnectionMonitor, DatabaseUnavailableError, is_away

# --- What is asked of Procrastinate's tables in one statement each, so that nothing comes between

TASK = "council"  # all work is one task of Procrastinate's

# Whoever begins the same work waits, so that what the other has begun is seen.
WAIT_IN_LINE = "SELECT pg_advisory_xact_lock(hashtextextended(%(lock)s::text, 12))"

BEGIN = """
WITH ended AS (
    DELETE FROM procrastinate_jobs
    WHERE lock = %(lock)s::text AND status NOT IN ('todo', 'doing')
)
INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args)
SELECT %(queue)s::text, %(task)s::text, %(lock)s::text, %(lock)s::text, %(args)s::jsonb
WHERE NOT EXISTS (
    SELECT FROM procrastinate_jobs
    WHERE lock = %(lock)s::text
      AND (status = 'todo' OR status = 'doing' AND NOT abort_requested)
)
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING
RETURNING id
"""

IS_BEGUN = """
SELECT EXISTS (
    SELECT FROM procrastinate_jobs WHERE lock = %(lock)s::text AND status IN ('todo', 'doing')
) AS is_begun
"""

# How a piece of work stands: what is under way comes before what is left.
STANDING = """
SELECT job.status::text AS status, job.args -> 'fault' AS fault,
       coalesce(extract(epoch FROM now() - max(event.at)), 0)::float AS seconds
FROM procrastinate_jobs job
LEFT JOIN procrastinate_events event ON event.job_id = job.id AND event.type = 'started'
WHERE job.lock = %(lock)s::text
GROUP BY job.id
ORDER BY job.status = 'doing' DESC, job.status = 'todo' DESC, job.id DESC
LIMIT 1
"""

STOP = """
WITH waiting AS (
    DELETE FROM procrastinate_jobs WHERE lock = %(lock)s::text AND status = 'todo'
)
UPDATE procrastinate_jobs SET abort_requested = true
WHERE lock = %(lock)s::text AND status = 'doing'
RETURNING id
"""

# Of these jobs, those that are still being done.
STILL_DONE = """
SELECT id FROM procrastinate_jobs WHERE id = ANY(%(ids)s::bigint[]) AND status = 'doing'
"""

DONE = "DELETE FROM procrastinate_jobs WHERE id = %(id)s::bigint AND status = 'doing'"

LEFT = """
UPDATE procrastinate_jobs
SET status = 'failed', abort_requested = false,
    args = args || jsonb_build_object('fault', %(fault)s::jsonb)
WHERE id = %(id)s::bigint AND status = 'doing'
"""

# What was to be stopped is not begun again, nor what one process took for itself alone.
GIVEN_BACK = """
WITH given AS (
    DELETE FROM procrastinate_jobs WHERE id = %(id)s::bigint AND status = 'doing'
    RETURNING *
)
INSERT INTO procrastinate_jobs
    (queue_name, task_name, priority, lock, queueing_lock, args, attempts)
SELECT queue_name, task_name, priority, lock, queueing_lock, args, attempts + %(tries)s::integer
FROM given WHERE NOT abort_requested AND NOT args ? 'alone'
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO UPDATE SET attempts = excluded.attempts
"""

TRY_AGAIN = """
DELETE FROM procrastinate_jobs
WHERE queue_name = %(queue)s::text AND status = 'failed' AND attempts < %(most)s::integer
"""

KNOWN = """
SELECT args ->> 'name' AS name FROM procrastinate_jobs
WHERE queue_name = %(queue)s::text AND status IN ('todo', 'doing', 'failed')
"""

# The turn of a queue's sweep in a slot of time goes to whoever comes first.
TURN = """
WITH turn AS (
    INSERT INTO procrastinate_periodic_defers (task_name, periodic_id, defer_timestamp)
    VALUES ('sweep', %(queue)s::text,
            floor(extract(epoch FROM now()) / %(every)s::float)::bigint)
    ON CONFLICT DO NOTHING
    RETURNING defer_timestamp
), before AS (
    DELETE FROM procrastinate_periodic_defers old USING turn
    WHERE old.task_name = 'sweep' AND old.periodic_id = %(queue)s::text
      AND old.defer_timestamp <> turn.defer_timestamp
)
SELECT count(*) > 0 AS is_ours,
       now() - pg_postmaster_start_time() >= make_interval(secs => %(settle)s::float) AS is_settled
FROM turn
"""

# Work of processes that are heard of no more. Its tries are counted while they follow each other
# quickly: what has been done for a while does not end the process that does it.
_STALLED = """
WITH stalled AS (
    SELECT job.id, job.attempts,
           CASE WHEN (SELECT max(event.at) FROM procrastinate_events event
                      WHERE event.job_id = job.id AND event.type = 'started')
                     < now() - interval '10 minutes'
                THEN 1 ELSE job.attempts + 1 END AS tries
    FROM procrastinate_jobs job
    LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id
    WHERE job.status = 'doing' AND job.queue_name = %(queue)s::text
      AND (worker.id IS NULL
           OR worker.last_heartbeat < now() - make_interval(secs => %(stalled)s::float))
    FOR UPDATE OF job SKIP LOCKED
)
"""

LEAVE_POISONED = (
    _STALLED
    + """
UPDATE procrastinate_jobs job
SET status = 'failed', attempts = stalled.tries, abort_requested = false,
    args = job.args || jsonb_build_object('fault', %(fault)s::jsonb)
FROM stalled WHERE job.id = stalled.id AND stalled.tries >= %(most)s::integer
  AND NOT job.abort_requested
RETURNING job.args ->> 'name' AS name
"""
)

# Both parts of it stand here.
TAKE_OVER = (
    _STALLED  # noqa: S608
    + """, gone AS (
    DELETE FROM procrastinate_jobs job USING stalled WHERE job.id = stalled.id
    RETURNING job.*, stalled.tries
)
INSERT INTO procrastinate_jobs
    (queue_name, task_name, priority, lock, queueing_lock, args, attempts)
SELECT queue_name, task_name, priority, lock, queueing_lock, args, tries
FROM gone WHERE NOT abort_requested AND NOT args ? 'alone'
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO UPDATE SET attempts = excluded.attempts
RETURNING args ->> 'name' AS name, attempts
"""
)

# Whoever wants it now need not wait for a process that is heard of no more.
FREE = """
DELETE FROM procrastinate_jobs job
WHERE job.lock = %(lock)s::text AND job.status = 'doing'
  AND NOT EXISTS (
      SELECT FROM procrastinate_workers worker
      WHERE worker.id = job.worker_id
        AND worker.last_heartbeat >= now() - make_interval(secs => %(stalled)s::float)
  )
  AND now() - pg_postmaster_start_time() >= make_interval(secs => %(settle)s::float)
RETURNING id
"""

TAKE_ALONE = """
INSERT INTO procrastinate_jobs
    (queue_name, task_name, lock, queueing_lock, args, status, worker_id)
SELECT %(queue)s::text, %(task)s::text, %(lock)s::text, %(lock)s::text, %(args)s::jsonb,
       'doing', %(worker)s::bigint
WHERE NOT EXISTS (
    SELECT FROM procrastinate_jobs WHERE lock = %(lock)s::text AND status = 'todo'
)
ON CONFLICT (lock) WHERE status = 'doing' DO NOTHING
RETURNING id
"""

OWN = """
SELECT id FROM procrastinate_jobs
WHERE status = 'doing' AND worker_id = ANY(%(workers)s::bigint[])
"""

# A process that stood still may have been struck off meanwhile.
HEARTBEAT = """
INSERT INTO procrastinate_workers (id, last_heartbeat) OVERRIDING SYSTEM VALUE
VALUES (%(worker)s::bigint, now())
ON CONFLICT (id) DO UPDATE SET last_heartbeat = now()
"""

LIVING = """
UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = ANY(%(workers)s::bigint[])
"""

FORGET_WORKERS = """
DELETE FROM procrastinate_workers WHERE last_heartbeat < now() - interval '1 day'
"""

# All work there is, by queue, and how it stands.
COUNTED = """
SELECT job.queue_name AS queue,
       CASE WHEN job.status = 'todo' THEN 'waiting'
            WHEN worker.last_heartbeat >= now() - make_interval(secs => %(stalled)s::float)
            THEN 'doing' ELSE 'stalled' END AS state,
       count(*)::integer AS works
FROM procrastinate_jobs job
LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id
WHERE job.status IN ('todo', 'doing')
GROUP BY 1, 2
"""


# --- Procrastinate's jobs for a database that may be away for a while: living work goes on meanwh

ANSWER_SECONDS = 4.0  # well within the silence that others bear
PAUSE_SECONDS = 0.5

Row = dict[str, Any]
Finish = Callable[[QueueJob, Status], Awaitable[None]]
T = TypeVar("T")


class PatientJobManager(JobManager):
    """Takes jobs and gives them back, and waits where the database is away.

    `on_finish` ends a job. Heartbeats go through `pulse`: whoever lives is heard of, however many
    wait for a connection.
    """

    def __init__(
        self, connector: PsycopgConnector, contact: ConnectionMonitor, on_finish: Finish
    ) -> None:
        super().__init__(connector)
        self._own = self.pulse = connector
        self._contact = contact
        self._on_finish = on_finish

    async def reached(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Give what the database says; raise DatabaseUnavailableError where it does not answer."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                said = await ask()
        except TimeoutError:
            self._contact.lost()
            raise DatabaseUnavailableError(AWAY) from None
        except (ConnectorException, psycopg.Error) as error:
            if not is_away(error):
                raise
            self._contact.lost()
            raise DatabaseUnavailableError(AWAY) from error
        self._contact.found()
        return said

    async def insisted(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Give what the database says, however long that takes."""
        while True:
            try:
                return await self.reached(ask)
            except DatabaseUnavailableError:
                await asyncio.sleep(PAUSE_SECONDS)

    async def rows(self, statement: str, **values: object) -> list[Row]:
        """Return the rows of one statement; raise DatabaseUnavailableError."""

        async def ask() -> list[Row]:
            # Its authors want nothing but texts that stand in the code, as ours do.
            return await self.connector.execute_query_all_async(statement, **values)

        return await self.reached(ask)

    async def rows_in_line(self, lock: str, statement: str, **values: object) -> list[Row]:
        """Do as `rows`, one after another for a lock: each sees what the one before has done."""

        async def ask() -> list[Row]:
            async with self._own.pool.connection() as connection:
                await connection.execute(WAIT_IN_LINE, {"lock": lock})
                cursor = connection.cursor(row_factory=dict_row)
                await cursor.execute(statement.encode(), {"lock": lock, **values})
                return await cursor.fetchall()

        return await self.reached(ask)

    async def done(self, statement: str, **values: object) -> None:
        """Do what a statement without rows says; raise DatabaseUnavailableError as `rows` does."""

        async def ask() -> None:
            await self.connector.execute_query_async(statement, **values)

        await self.reached(ask)

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> QueueJob | None:
        """Give the next job, or None, as where the database is away."""

        async def ask() -> QueueJob | None:
            return await super(PatientJobManager, self).fetch_job(queues, worker_id)

        try:
            return await self.reached(ask)
        except DatabaseUnavailableError:
            return None

    async def finish_job(self, job: QueueJob, status: Status, delete_job: bool) -> None:
        """End a job as its work ended."""
        await self._on_finish(job, status)

    async def register_worker(self) -> int:
        """Give the number of a new worker, once the database is there."""
        return await self.insisted(super().register_worker)

    async def unregister_worker(self, worker_id: int) -> None:
        """Strike a worker off, where the database is there."""

        async def ask() -> None:
            await super(PatientJobManager, self).unregister_worker(worker_id)

        try:
            await self.reached(ask)
        except DatabaseUnavailableError:
            return

    async def update_heartbeat(self, worker_id: int) -> None:
        """Let a worker be heard of, once the database is there."""

        async def ask() -> None:
            await self.pulse.execute_query_async(HEARTBEAT, worker=worker_id)

        await self.insisted(ask)

    async def prune_stalled_workers(self, seconds_since_heartbeat: float) -> list[int]:
        """Strike nobody off: after the database was away all look stalled to who comes first."""
        return []

    async def list_jobs_to_abort_async(self, queue: str | None = None) -> Iterable[int]:
        """Give the jobs that are to be stopped; none where the database is away."""

        async def ask() -> Iterable[int]:
            return await super(PatientJobManager, self).list_jobs_to_abort_async(queue)

        try:
            return await self.reached(ask)
        except DatabaseUnavailableError:
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
