"""Job queue of a cluster on Procrastinate: each job runs in one living process at a time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

import structlog
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.worker import Worker as QueueWorker
from psycopg import Error
from psycopg.types.json import Jsonb

from bot.cluster.connection import (
    DEFAULT_TIMINGS,
    NO_TABLES,
    ClusterTimings,
    ConnectionMonitor,
    clock,
    translated_errors,
)
from bot.cluster.jobs import RETRY_SECONDS, TASK_NAME
from bot.cluster.worker import JobFault, OnEnded, ServedQueue, Worker, lock_name, worker_ids
from bot.coordination.tasks import running_alongside
from bot.observability import metrics
from bot.observability.metrics import JobState
from bot.ports import Job, ListUnfinished, RunJob
from council.errors import CouncilError, StoreError

FAILED_JOBS_KEPT_HOURS = 30 * 24
SWEEPS_PER_FILL = 6  # half a minute with the default timings
SWEEPS_PER_CLEANUP = 720  # an hour with the default timings
POISONED = (
    "It ended the process that did it, or the process did not answer, {times} times in a row: "
    "it is left until somebody begins it again."
)


class JobTakenError(CouncilError):
    """Another process runs the job, or it waits for one."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The status of a job: queued or running, for how many seconds, or why it failed."""

    is_queued: bool = False
    seconds: float = 0.0
    fault: JobFault | None = None


class ClusterJobQueue:
    """Implements `bot.ports.JobQueue` for many processes, while `running` lasts."""

    def __init__(
        self,
        connector: PsycopgConnector,
        monitor: ConnectionMonitor,
        timings: ClusterTimings = DEFAULT_TIMINGS,
        clock: Callable[[], float] = clock,
        heartbeat_connector: PsycopgConnector | None = None,
    ) -> None:
        self._timings = timings
        self._served: dict[str, ServedQueue] = {}
        self.worker = Worker(connector, monitor, timings, clock, self._served)
        self._jobs = self.worker.jobs
        self._jobs.heartbeat_connector = heartbeat_connector or connector
        self._monitor = monitor
        self._sweeps = 0
        self._app = App(connector=connector)
        self._app.job_manager = self._jobs
        self._app.task(name=TASK_NAME, pass_context=True)(self.worker.do)
        self.is_running_here = self.worker.is_running
        self.on_job_lost = self.worker.on_lost.append

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Sweep for stalled jobs, and watch this process' jobs, while the block lasts."""
        with translated_errors():
            if not await self._app.check_connection_async():
                raise StoreError(NO_TABLES)
        self.worker.freeze_detector.start()
        async with running_alongside(self._run_sweeps(), self.worker.watch_ownership()):
            try:
                yield
            finally:
                self.worker.freeze_detector.stop()

    async def enqueue(self, work: Job) -> None:
        """Enqueue a job, unless it is queued, or is running and was not told to stop."""
        values = _job_values(work, {"name": work.name})
        await self._jobs.fetch_all_locked(lock_name(work), "enqueue", **values)

    async def is_queued(self, work: Job) -> bool:
        """Return whether a job runs, or waits for a process."""
        rows = await self._jobs.fetch_all("is_queued", lock=lock_name(work))
        return bool(rows[0]["is_queued"])

    async def status(self, work: Job) -> JobStatus:
        """Return the status of a job."""
        rows = await self._jobs.fetch_all("status", lock=lock_name(work))
        if not rows:
            return JobStatus()
        is_queued = rows[0]["status"] in {"todo", "doing"}
        return JobStatus(is_queued, rows[0]["seconds"], None if is_queued else rows[0]["fault"])

    async def stop(self, work: Job) -> tuple[int, ...]:
        """Stop a job in whichever process it runs; return the ids that have still to end."""
        rows = await self._jobs.fetch_all_locked(lock_name(work), "stop")
        return tuple(row["id"] for row in rows)

    async def are_stopped(self, ids: tuple[int, ...]) -> bool:
        """Return whether every job that `stop` returned has ended."""
        return not await self._jobs.fetch_all("still_running", ids=[*ids])

    async def forget_failures(self, queue: str) -> None:
        """Delete the failed jobs of a queue, so that the sweep enqueues them again."""
        most = self._timings.max_takeovers
        await self._jobs.execute("delete_failed", queue=queue, most=most)

    async def fill(self, queue: str) -> None:
        """Enqueue every unfinished job of a queue that is served here, without waiting."""
        if served := self._served.get(queue):
            # First, so that a job that ends meanwhile is not taken for a new one.
            rows = await self._jobs.fetch_all("known_names", queue=queue)
            known = {row["name"] for row in rows}
            for name in await served.unfinished():
                if name not in known:
                    await self.enqueue(Job(queue, name))

    def stop_serving(self, queue: str) -> None:
        """Take no more jobs of a queue; running ones have their grace period."""
        if served := self._served.get(queue):
            served.stop()

    @asynccontextmanager
    async def serve_queue(
        self,
        queue: str,
        do: RunJob,
        unfinished: ListUnfinished,
        at_once: int,
        on_ended: OnEnded | None = None,
        grace_seconds: float = 0.0,
    ) -> AsyncIterator[None]:
        """Run a queue's jobs; at the block's end they have `grace_seconds`, then are requeued."""
        await self._jobs.retry(partial(self.forget_failures, queue))
        worker = self._queue_worker(queue, at_once, grace_seconds)
        served = self._served[queue] = ServedQueue(do, unfinished, on_ended, worker)
        serving = asyncio.create_task(self._serve(served))
        heartbeat = asyncio.create_task(self._send_last_heartbeats(served))
        try:
            yield
        finally:
            served.stop()
            if worker.worker_id is None:  # it still waits for the database
                serving.cancel()
            await asyncio.wait([serving])
            heartbeat.cancel()
            if self._served.get(queue) is served:
                del self._served[queue]

    @asynccontextmanager
    async def lock(self, work: Job) -> AsyncIterator[None]:
        """Run a job as this block only; raise JobTakenError if it runs or waits elsewhere."""
        with translated_errors():
            worker = await self._jobs.register_worker()
        self.worker.lock_worker_ids.add(worker)
        heartbeat = asyncio.create_task(self._send_heartbeats(worker))
        try:
            job = await self._take(work, worker)
            with self.worker.track(job, work) as running:
                try:
                    yield
                finally:
                    running.is_ending = True
                    end = partial(self._jobs.execute, "delete_finished", id=job)
                    await self.worker.retry_end(end)
        finally:
            heartbeat.cancel()
            self.worker.lock_worker_ids.discard(worker)
            await self._jobs.unregister_worker(worker)

    async def _take(self, work: Job, worker: int) -> int:
        """Insert a job that runs in this process; return its id."""
        values, lock = _job_values(work, {"name": work.name, "alone": True}), lock_name(work)
        limits = {"stalled": self._timings.stalled_seconds, "settle": self._timings.settle_seconds}
        await self._jobs.fetch_all_locked(lock, "delete_stalled", **limits)
        rows = await self._jobs.fetch_all_locked(lock, "insert_running", **values, worker=worker)
        if not rows:
            raise JobTakenError(f"{work.name} is under way in another process.")
        return int(rows[0]["id"])

    async def _send_heartbeats(self, worker: int) -> None:
        while True:
            await asyncio.sleep(self._timings.heartbeat_seconds)
            await self._jobs.update_heartbeat(worker)

    async def _send_last_heartbeats(self, served: ServedQueue) -> None:
        """Send heartbeats during the grace period, when Procrastinate's worker sends none."""
        while True:
            await asyncio.sleep(self._timings.heartbeat_seconds)
            if served.is_stopped and served.worker.worker_id is not None:
                await self._jobs.update_heartbeat(served.worker.worker_id)

    def _queue_worker(self, queue: str, at_once: int, grace_seconds: float) -> QueueWorker:
        return QueueWorker(
            self._app,
            queues=[queue],
            name=queue,
            concurrency=at_once,
            fetch_job_polling_interval=self._timings.poll_seconds,
            abort_job_polling_interval=self._timings.poll_seconds,
            shutdown_graceful_timeout=grace_seconds,
            delete_jobs="successful",
            install_signal_handlers=False,
            update_heartbeat_interval=self._timings.heartbeat_seconds,
            stalled_worker_timeout=self._timings.stalled_seconds,
        )

    async def _serve(self, served: ServedQueue) -> None:
        """Run the worker of a queue, again if it ends by an error."""
        run: Callable[[], Awaitable[None]] = served.worker.run
        while not served.is_stopped:
            try:
                await run()
            except (ConnectorException, StoreError) as error:
                fault = type(error.__cause__ or error).__name__
                structlog.get_logger().error("worker_ended", fault=fault)
            if not served.is_stopped:
                await asyncio.sleep(RETRY_SECONDS)

    # --- Sweeps: each queue is swept by one process at a time

    async def _run_sweeps(self) -> None:
        """Requeue stalled jobs and enqueue missing ones of the served queues, until cancelled."""
        while True:
            for queue in [*self._served]:
                await self._sweep_safely(queue)
            await self._count_jobs()
            self._sweeps += 1
            await asyncio.sleep(self._timings.sweep_seconds)

    async def _count_jobs(self) -> None:
        """Update the metrics of all processes' jobs."""
        with suppress(CouncilError, ConnectorException, Error):  # keep the last counts
            stalled = self._timings.stalled_seconds
            rows = await self._jobs.fetch_all("count_jobs", stalled=stalled)
            counts = {(row["queue"], JobState(row["state"])): row["works"] for row in rows}
            metrics.set_job_counts(counts)

    async def _sweep_safely(self, queue: str) -> None:
        try:
            await self._sweep(queue)
        except (CouncilError, ConnectorException, Error) as error:
            structlog.get_logger().debug("sweep_put_off", queue=queue, why=type(error).__name__)
        # A bug in one queue's `unfinished` must not stop the sweeps of the others.
        except Exception:  # noqa: BLE001
            structlog.get_logger().exception("sweep_failed", queue=queue)

    async def _sweep(self, queue: str) -> None:
        settle = self._timings.settle_seconds
        limits = {"every": self._timings.sweep_seconds, "settle": settle}
        [claim] = await self._jobs.fetch_all("claim_sweep", queue=queue, **limits)
        is_ours = claim["is_ours"]
        if is_ours and claim["is_settled"] and self._monitor.was_reachable_for(settle):
            await self._requeue_stalled(queue)
        # Other processes may not know every unfinished job of this one.
        if is_ours or self._sweeps % SWEEPS_PER_FILL == 0:
            await self.fill(queue)
        if is_ours and self._sweeps % SWEEPS_PER_CLEANUP == 0:
            await self._clean_up()

    async def _requeue_stalled(self, queue: str) -> None:
        """Requeue the jobs of workers without a heartbeat; fail those that were tried too often."""
        # A process that sweeps is alive, even if it was too busy to send heartbeats.
        await self._jobs.execute("refresh_workers", workers=worker_ids(self._served))
        stalled, most = self._timings.stalled_seconds, self._timings.max_takeovers
        fault = {"kind": "", "why": POISONED.format(times=most)}
        limits = {"queue": queue, "stalled": stalled}
        poison = {**limits, "fault": fault, "most": most}
        for row in await self._jobs.fetch_all("fail_poisoned", **poison):
            structlog.get_logger().error("work_left", queue=queue, name=row["name"], times=most)
        for row in await self._jobs.fetch_all("requeue_stalled", **limits):
            metrics.TAKEOVERS.labels(queue).inc()
            structlog.get_logger().warning(
                "work_taken_over", queue=queue, name=row["name"], times=row["attempts"]
            )

    async def _clean_up(self) -> None:
        """Delete old failed jobs with their events, and old workers."""
        hours = FAILED_JOBS_KEPT_HOURS
        await self._jobs.delete_old_jobs(
            hours, include_failed=True, include_cancelled=True, include_aborted=True
        )
        await self._jobs.execute("delete_old_workers")


def _job_values(work: Job, args: dict[str, object]) -> dict[str, object]:
    return {"queue": work.queue, "task": TASK_NAME, "args": Jsonb(args)}
