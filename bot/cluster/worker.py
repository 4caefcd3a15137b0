"""Worker of the job queue: the jobs that this process runs, until they end or are abandoned."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog
from procrastinate import JobContext, PsycopgConnector
from procrastinate.jobs import Job as QueueJob
from procrastinate.jobs import Status
from procrastinate.worker import Worker as QueueWorker

from bot.cluster.connection import (
    ClusterTimings,
    ConnectionMonitor,
    DatabaseUnavailableError,
    clock,
)
from bot.cluster.jobs import RETRY_SECONDS, PatientJobManager
from bot.observability import logs, metrics
from bot.ports import Job, ListUnfinished, RunJob
from council.errors import CouncilError, StoreError

FREEZE_CHECK_SECONDS = 1.0

OnEnded = Callable[[str], Awaitable[None]]
JobFault = dict[str, str]


@dataclass(slots=True, eq=False)
class RunningJob:
    """A job that runs here; `is_ours` ends once another process may run it."""

    work: Job
    task: asyncio.Task[Any] | None
    since: float
    tries: int = 0
    is_ours: bool = True
    is_ending: bool = False
    fault: JobFault = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class ServedQueue:
    """A queue that this process serves; `on_ended` is called for each job that leaves it."""

    do: RunJob
    unfinished: ListUnfinished
    on_ended: OnEnded | None
    worker: QueueWorker
    is_stopped: bool = False

    def stop(self) -> None:
        """Take no more jobs."""
        self.is_stopped = True
        stop: Callable[[], None] = self.worker.stop
        stop()


def lock_name(work: Job) -> str:
    """Return the lock that keeps a job from running twice at once."""
    return f"{work.queue} {work.name}"


def worker_ids(served: Mapping[str, ServedQueue]) -> list[int]:
    """Return the ids of the registered workers of queues."""
    ids = (one.worker.worker_id for one in served.values())
    return [id_ for id_ in ids if id_ is not None]


class Worker:
    """Runs the jobs of the queues served here; `on_lost` get each job that is abandoned."""

    def __init__(
        self,
        connector: PsycopgConnector,
        monitor: ConnectionMonitor,
        timings: ClusterTimings,
        clock: Callable[[], float],
        served: Mapping[str, ServedQueue],
    ) -> None:
        self.jobs = PatientJobManager(connector, monitor, self._finish)
        self.freeze_detector = FreezeDetector(self.abandon_all, timings.gap_seconds, clock)
        self.lock_worker_ids: set[int] = set()
        self.on_lost: list[Callable[[Job], None]] = []
        self._monitor = monitor
        self._timings = timings
        self._clock = clock
        self._served = served
        self._running: dict[int, RunningJob] = {}
        self._orphaned_jobs: set[int] = set()

    async def do(self, context: JobContext, /, name: str, **_: object) -> None:
        """Run a job that was fetched; newer programs may pass more arguments."""
        job = context.job
        work = Job(job.queue, name)
        running = RunningJob(work, asyncio.current_task(), self._clock(), job.attempts)
        self._running[_id(job)] = running
        served = self._served.get(job.queue)
        if served is None:  # this process has just stopped serving the queue
            raise asyncio.CancelledError
        try:
            with metrics.JOBS_HERE.labels(job.queue).track_inprogress():
                await served.do(name)
        except CouncilError as error:
            running.fault = {"kind": type(error).__name__, "why": str(error)}
            raise
        # A bug: people get its reference, and the log has its traceback.
        except Exception as error:
            why = logs.log_unexpected_error("work_failed", error, queue=work.queue, name=name)
            running.fault = {"kind": "", "why": why}
            raise

    def is_running(self, work: Job) -> bool:
        """Return whether a job runs here and still belongs to this process."""
        found = (running for running in self._running.values() if running.work == work)
        return self.freeze_detector.is_awake and any(running.is_ours for running in found)

    @contextmanager
    def track(self, job: int, work: Job) -> Iterator[RunningJob]:
        """Treat the block as a running job that was not fetched from a queue."""
        running = self._running[job] = RunningJob(work, asyncio.current_task(), self._clock())
        try:
            yield running
        finally:
            del self._running[job]

    async def watch_ownership(self) -> None:
        """Check every few seconds, and after a reconnect, that running jobs are still ours."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._timings.ownership_check_seconds):
                    await self._monitor.reconnected.wait()
            self._monitor.reconnected.clear()
            try:
                await self._check_ownership()
            except StoreError as error:
                structlog.get_logger().debug("own_work_unseen", fault=type(error).__name__)

    async def _check_ownership(self) -> None:
        """Abandon jobs that others may run, and requeue jobs that were fetched and lost."""
        before = {job: one for job, one in self._running.items() if not one.is_ending}
        workers = [*self.lock_worker_ids, *worker_ids(self._served)]
        own = {row["id"] for row in await self.jobs.fetch_all("own_jobs", workers=workers)}
        for job, running in before.items():
            if job not in own and running.is_ours:
                structlog.get_logger().warning(
                    "work_lost", queue=running.work.queue, name=running.work.name
                )
                self._abandon(running)
        orphaned = own - self._running.keys()
        for job in orphaned & self._orphaned_jobs:
            structlog.get_logger().warning("work_strayed", job=job)
            await self.jobs.execute("requeue", id=job, tries=0)
        self._orphaned_jobs = orphaned

    def abandon_all(self, gap_seconds: float) -> None:
        """Abandon every running job, because others may run them after a freeze."""
        structlog.get_logger().warning("stood_still", seconds=round(gap_seconds, 1))
        for running in [*self._running.values()]:
            self._abandon(running)

    def _abandon(self, running: RunningJob) -> None:
        if running.is_ours and not running.is_ending:
            running.is_ours = False
            if running.task:
                running.task.cancel()
            for on_lost in self.on_lost:
                on_lost(running.work)

    async def _finish(self, job: QueueJob, status: Status) -> None:
        """Store how a job ended."""
        running = self._running.get(_id(job)) or RunningJob(Job(job.queue, ""), None, self._clock())
        running.is_ending = True
        try:
            await self.retry_end(partial(self._end, _id(job), status, running), job.queue)
        finally:
            self._running.pop(_id(job), None)
        served = self._served.get(job.queue)
        if served and served.on_ended:
            await served.on_ended(running.work.name)

    async def retry_end(self, end: Callable[[], Awaitable[None]], queue: str = "") -> None:
        """Store an end once the database is reachable; give up for a queue that was stopped."""
        while True:
            try:
                await end()
            except DatabaseUnavailableError:
                served = self._served.get(queue)
                if served is None or served.is_stopped:
                    return  # others requeue the job when its heartbeat is missing
            else:
                return
            await asyncio.sleep(RETRY_SECONDS)

    async def _end(self, job: int, status: Status, running: RunningJob) -> None:
        if status is Status.SUCCEEDED:
            await self.jobs.execute("delete_finished", id=job)
        elif status is not Status.FAILED:
            await self.jobs.execute("requeue", id=job, tries=0)
        # A job may fail because the database was away: try it again.
        elif (
            self._monitor.was_troubled_since(running.since)
            and running.tries + 1 < self._timings.max_takeovers
        ):
            await self.jobs.execute("requeue", id=job, tries=1)
        else:
            await self.jobs.execute("mark_failed", id=job, fault=running.fault)


def _id(job: QueueJob) -> int:
    if job.id is None:
        raise ValueError("a job that was fetched has a number")
    return job.id


class FreezeDetector:
    """Calls `on_freeze` with the seconds for which the event loop, or the machine, stood still."""

    def __init__(
        self,
        on_freeze: Callable[[float], None],
        gap_seconds: float,
        clock: Callable[[], float] = clock,
    ) -> None:
        self._on_freeze = on_freeze
        self._gap_seconds = gap_seconds
        self._clock = clock
        self._checked_at = clock()
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_awake(self) -> bool:
        """Return whether the last check is recent; False right after a freeze."""
        return self._clock() - self._checked_at <= self._gap_seconds

    def start(self) -> None:
        """Check from now on."""
        self._checked_at = self._clock()
        self.check()

    def stop(self) -> None:
        """Stop checking."""
        if self._handle:
            self._handle.cancel()

    def check(self) -> None:
        """Compare the clock with the last check, and do so again in a second."""
        self.stop()
        loop = asyncio.get_running_loop()
        self._handle = loop.call_later(FREEZE_CHECK_SECONDS, self.check)
        gap = self._clock() - self._checked_at
        self._checked_at = self._clock()
        if gap > self._gap_seconds:
            self._on_freeze(gap)
