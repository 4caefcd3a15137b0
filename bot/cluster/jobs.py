"""SQL of the job queue, one statement for each change, and a job manager that survives outages."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job as QueueJob
from procrastinate.jobs import Status
from procrastinate.manager import JobManager, NotificationCallback
from psycopg.rows import dict_row

from bot.cluster.connection import (
    UNREACHABLE,
    ConnectionMonitor,
    DatabaseUnavailableError,
    is_connection_error,
    translated_errors,
)

TASK_NAME = "council"  # all jobs are one Procrastinate task

# Processes that enqueue the same job wait for each other, so that each sees the other's row.
LOCK_JOB = "SELECT pg_advisory_xact_lock(hashtextextended(%(lock)s::text, 12))"
# A worker that takes the job at this moment commits before the next statement reads the row.
LOCK_ROWS = "SELECT FROM procrastinate_jobs WHERE lock = %(lock)s::text FOR UPDATE"

ENQUEUE = """
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

IS_QUEUED = """
SELECT EXISTS (
    SELECT FROM procrastinate_jobs WHERE lock = %(lock)s::text AND status IN ('todo', 'doing')
) AS is_queued
"""

# The status of a job: a running row comes before a failed one.
STATUS = """
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

# Which of these jobs still run.
STILL_RUNNING = """
SELECT id FROM procrastinate_jobs WHERE id = ANY(%(ids)s::bigint[]) AND status = 'doing'
"""

DELETE_FINISHED = "DELETE FROM procrastinate_jobs WHERE id = %(id)s::bigint AND status = 'doing'"

MARK_FAILED = """
UPDATE procrastinate_jobs
SET status = 'failed', abort_requested = false,
    args = args || jsonb_build_object('fault', %(fault)s::jsonb)
WHERE id = %(id)s::bigint AND status = 'doing'
"""

# A job that was to be stopped is not requeued, nor one that a process ran under its own lock.
_REQUEUE_GIVEN = """
INSERT INTO procrastinate_jobs
    (queue_name, task_name, priority, lock, queueing_lock, args, attempts)
SELECT queue_name, task_name, priority, lock, queueing_lock, args, tries
FROM given WHERE NOT abort_requested AND NOT args ? 'alone'
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO UPDATE SET attempts = excluded.attempts
RETURNING args ->> 'name' AS name, attempts
"""

# All parts are constants of this module.
REQUEUE = (
    """
WITH given AS (
    DELETE FROM procrastinate_jobs WHERE id = %(id)s::bigint AND status = 'doing'
    RETURNING *, attempts + %(tries)s::integer AS tries
)
"""  # noqa: S608
    + _REQUEUE_GIVEN
)

DELETE_FAILED = """
DELETE FROM procrastinate_jobs
WHERE queue_name = %(queue)s::text AND status = 'failed' AND attempts < %(most)s::integer
"""

KNOWN_NAMES = """
SELECT args ->> 'name' AS name FROM procrastinate_jobs
WHERE queue_name = %(queue)s::text AND status IN ('todo', 'doing', 'failed')
"""

# The first process in a time slot sweeps the queue.
CLAIM_SWEEP = """
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

# Jobs of workers without a heartbeat. Their tries add up only while they follow each other quickly:
# a job that has run for ten minutes does not kill its process.
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

FAIL_POISONED = (
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

REQUEUE_STALLED = (
    _STALLED  # noqa: S608
    + """, given AS (
    DELETE FROM procrastinate_jobs job USING stalled WHERE job.id = stalled.id
    RETURNING job.*, stalled.tries
)
"""
    + _REQUEUE_GIVEN
)

# A job may be taken from a worker without a heartbeat.
DELETE_STALLED = """
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

INSERT_RUNNING = """
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

OWN_JOBS = """
SELECT id FROM procrastinate_jobs
WHERE status = 'doing' AND worker_id = ANY(%(workers)s::bigint[])
"""

# The worker of a process that was frozen may have been deleted meanwhile.
HEARTBEAT = """
INSERT INTO procrastinate_workers (id, last_heartbeat) OVERRIDING SYSTEM VALUE
VALUES (%(worker)s::bigint, now())
ON CONFLICT (id) DO UPDATE SET last_heartbeat = now()
"""

REFRESH_WORKERS = """
UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = ANY(%(workers)s::bigint[])
"""

DELETE_OLD_WORKERS = """
DELETE FROM procrastinate_workers WHERE last_heartbeat < now() - interval '1 day'
"""

# All jobs, by queue and state.
COUNT_JOBS = """
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
        """Return the rows of a statement; raise StoreError."""
        execute = self._connector.execute_query_all_async
        with translated_errors():
            return await self._attempt(partial(execute, statement, **values))

    async def fetch_all_locked(self, lock: str, statement: str, **values: object) -> list[Row]:
        """Return the rows of a statement that runs while no other one with the same lock does."""

        async def query() -> list[Row]:
            async with self._connector.pool.connection() as connection:
                await connection.execute(LOCK_JOB, {"lock": lock})
                await connection.execute(LOCK_ROWS, {"lock": lock})
                cursor = connection.cursor(row_factory=dict_row)
                await cursor.execute(statement.encode(), {"lock": lock, **values})
                return await cursor.fetchall()

        with translated_errors():
            return await self._attempt(query)

    async def execute(self, statement: str, **values: object) -> None:
        """Run a statement without rows; raise StoreError."""
        with translated_errors():
            await self._attempt(partial(self._connector.execute_query_async, statement, **values))

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
        await self.retry(partial(execute, HEARTBEAT, worker=worker_id))

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
