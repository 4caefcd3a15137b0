"""What a process is doing for its cluster: pieces of work, and the queues it does them of."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog
from procrastinate import JobContext, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job as QueueJob
from procrastinate.jobs import Status
from procrastinate.worker import Worker as QueueWorker

from bot.cluster import jobs as statements
from bot.cluster.connection import (
    ClusterTimings,
    ConnectionMonitor,
    DatabaseUnavailableError,
    clock,
)
from bot.cluster.jobs import PAUSE_SECONDS, PatientJobManager
from bot.observability import logs, metrics
from bot.ports import Do, Job, Unfinished
from council.errors import CouncilError

# --- What a process is doing for its cluster: pieces of work, and the queues it does them of.

Ended = Callable[[str], Awaitable[None]]
Fault = dict[str, str]


async def nobody(_: str) -> None:
    """Tell nobody."""


@dataclass(slots=True, eq=False)
class RunningJob:
    """A piece of work under way here, since a moment of the clock; `tries` were made before.

    It is ours no more where another process may be doing it.
    """

    work: Job
    task: asyncio.Task[Any] | None
    since: float
    tries: int = 0
    is_ours: bool = True
    is_ending: bool = False
    fault: Fault = field(default_factory=dict)

    def let_go(self) -> None:
        """Do no more of it."""
        self.is_ours = False
        if self.task:
            self.task.cancel()


@dataclass(slots=True, eq=False)
class ServedQueue:
    """A queue that is served here; `ended` hears of each piece of work that was done or left."""

    do: Do
    unfinished: Unfinished
    ended: Ended
    worker: QueueWorker
    is_left: bool = False

    def leave(self) -> None:
        """Take no more of it."""
        self.is_left = True
        stop: Callable[[], None] = self.worker.stop
        stop()


def lock_of(work: Job) -> str:
    """Give what keeps a piece of work from being done twice at once."""
    return f"{work.queue} {work.name}"


# --- A fence round what a process does: who stood still for too long lets go before it goes on.

LOOK_SECONDS = 1.0


class FreezeDetector:
    """Looks each second whether the loop stood still; `thawed` hears for how many seconds."""

    def __init__(
        self,
        thawed: Callable[[float], None],
        gap_seconds: float,
        clock: Callable[[], float] = clock,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._thawed = thawed
        self._look_seconds = look_seconds
        self._gap_seconds = gap_seconds
        self._clock = clock
        self._looked = clock()
        self._handle: asyncio.TimerHandle | None = None

    @property
    def bakeoff_registry(self) -> bool:
        """Say whether it was looked lately: not where the loop goes on after standing still."""
        return self._clock() - self._looked <= self._gap_seconds

    def start(self) -> None:
        """Look from now on."""
        self._looked = self._clock()
        self._again()

    def stop(self) -> None:
        """Look no more."""
        if self._handle:
            self._handle.cancel()

    def look(self) -> None:
        """Compare the clock with the last look."""
        gap = self._clock() - self._looked
        self._looked = self._clock()
        if gap > self._gap_seconds:
            self._thawed(gap)

    def _again(self) -> None:
        self._handle = asyncio.get_running_loop().call_later(self._look_seconds, self._tick)

    def _tick(self) -> None:
        self._again()
        self.look()


# --- What this process has in its hands: each piece of work it does, to its end or out of them.


class Worker:
    """Does the work of the queues that are served; `workers` are those without a queue.

    Those in `lost` hear at once of each piece that is out of hand.
    """

    def __init__(
        self,
        connector: PsycopgConnector,
        contact: ConnectionMonitor,
        pace: ClusterTimings,
        clock: Callable[[], float],
        served: Mapping[str, ServedQueue],
    ) -> None:
        self.jobs = PatientJobManager(connector, contact, self._finish)
        self.fence = FreezeDetector(self._thawed, pace.gap_seconds, clock)
        self.workers: set[int] = set()
        self._contact = contact
        self._pace = pace
        self._clock = clock
        self._served = served
        self.lost: list[Callable[[Job], None]] = []
        self._doing: dict[int, RunningJob] = {}
        self._strays: set[int] = set()

    async def do(self, context: JobContext, /, name: str, **_: object) -> None:
        """Do one piece of work, as it was fetched; newer programs may say more of it."""
        job = context.job
        work = Job(job.queue, name)
        doing = RunningJob(work, asyncio.current_task(), self._clock(), job.attempts)
        self._doing[_id(job)] = doing
        served = self._served.get(job.queue)
        if served is None:  # left a moment ago
            raise asyncio.CancelledError
        try:
            with metrics.work_under_way(job.queue):
                await served.do(name)
        except CouncilError as error:
            doing.fault = {"kind": type(error).__name__, "why": str(error)}
            raise
        # What the work's owner did not foresee is told by its reference, and logged under it.
        except Exception as error:
            why = logs.unforeseen("work_failed", error, queue=work.queue, name=name)
            doing.fault = {"kind": "", "why": why}
            raise

    def has(self, work: Job) -> bool:
        """Say whether a piece of work is done here and may go on, as far as one can know."""
        found = (doing for doing in self._doing.values() if doing.work == work)
        return self.fence.bakeoff_registry and any(doing.is_ours for doing in found)

    @contextmanager
    def holding(self, job: int, work: Job) -> Iterator[RunningJob]:
        """Have a piece of work in hand that was not fetched, as long as the block lasts."""
        doing = self._doing[job] = RunningJob(work, asyncio.current_task(), self._clock())
        try:
            yield doing
        finally:
            del self._doing[job]

    async def look_after(self) -> None:
        """See every few seconds, and when the database is back, whether all of it is still ours."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace.own_seconds):
                    await self._contact.returned.wait()
            self._contact.returned.clear()
            try:
                await self.look()
            except (DatabaseUnavailableError, ConnectorException) as error:
                structlog.get_logger().debug("own_work_unseen", fault=type(error).__name__)

    async def look(self) -> None:
        """Let go of what others may do, and give back what was fetched and never arrived."""
        before = {job: doing for job, doing in self._doing.items() if not doing.is_ending}
        workers = [*self.workers, *self._fetching()]
        own = {row["id"] for row in await self.jobs.rows(statements.OWN, workers=workers)}
        for job, doing in before.items():
            if job not in own and doing.is_ours:
                structlog.get_logger().warning("work_lost", **_facts(doing))
                self._let_go(doing)
        strays = own - self._doing.keys()
        for job in strays & self._strays:
            structlog.get_logger().warning("work_strayed", job=job)
            await self.jobs.done(statements.GIVEN_BACK, id=job, tries=0)
        self._strays = strays

    def _fetching(self) -> Iterator[int]:
        for served in self._served.values():
            if served.worker.worker_id is not None:
                yield served.worker.worker_id

    def _thawed(self, gap_seconds: float) -> None:
        structlog.get_logger().warning("stood_still", seconds=round(gap_seconds, 1))
        self.let_all_go()

    def let_all_go(self) -> None:
        """Do nothing more of what is in hand: others may be doing it."""
        for doing in [*self._doing.values()]:
            self._let_go(doing)

    def _let_go(self, doing: RunningJob) -> None:
        if doing.is_ours and not doing.is_ending:
            doing.let_go()
            for hear in self.lost:
                hear(doing.work)

    async def _finish(self, job: QueueJob, status: Status) -> None:
        """End a job as its work ended."""
        doing = self._doing.get(_id(job)) or RunningJob(Job(job.queue, ""), None, self._clock())
        doing.is_ending = True
        try:
            await self.insisted(partial(self._end, _id(job), status, doing), job.queue)
        finally:
            self._doing.pop(_id(job), None)
        if served := self._served.get(job.queue):
            await served.ended(doing.work.name)

    async def insisted(self, end: Callable[[], Awaitable[None]], queue: str = "") -> None:
        """Have an end noted, once the database is there; a queue that is left does not wait."""
        while True:
            try:
                await end()
            except DatabaseUnavailableError:
                served = self._served.get(queue)
                if served is None or served.is_left:
                    return  # others find it by its silence
            else:
                return
            await asyncio.sleep(PAUSE_SECONDS)

    async def _end(self, job: int, status: Status, doing: RunningJob) -> None:
        most = self._pace.most_takeovers
        if status is Status.SUCCEEDED:
            await self.jobs.done(statements.DONE, id=job)
        elif status is not Status.FAILED:
            await self.jobs.done(statements.GIVEN_BACK, id=job, tries=0)
        # What went wrong while the database was away is no fault of the work.
        elif self._contact.was_troubled_since(doing.since) and doing.tries + 1 < most:
            await self.jobs.done(statements.GIVEN_BACK, id=job, tries=1)
        else:
            await self.jobs.done(statements.LEFT, id=job, fault=doing.fault)


def _id(job: QueueJob) -> int:
    if job.id is None:
        raise ValueError("a job that was fetched has a number")
    return job.id


def _facts(doing: RunningJob) -> dict[str, str]:
    return {"queue": doing.work.queue, "name": doing.work.name}
