"""Work that nobody does any more, or that nobody has begun, found and put back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

import structlog
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.worker import Worker as QueueWorker
from psycopg import Error
from psycopg.types.json import Jsonb

from bot.cluster import jobs as statements
from bot.cluster.connection import (
    NO_TABLES,
    PACE,
    ClusterTimings,
    ConnectionMonitor,
    clock,
    told_kindly,
)
from bot.cluster.jobs import PAUSE_SECONDS, PatientJobManager
from bot.cluster.worker import Ended, Fault, ServedQueue, Worker, lock_of, nobody
from bot.coordination.tasks import beside
from bot.observability import metrics
from bot.observability.metrics import JobState
from bot.ports import Do, Job, Unfinished
from council.errors import CouncilError, StoreError

# --- Work that nobody does any more, or that nobody has begun, found and put back.

KEPT_HOURS = 30 * 24  # what failed is kept so long
OWN_SWEEPS = 6  # half a minute, at the usual pace
CLEAN_SWEEPS = 720  # an hour
POISONED = (
    "It ended the process that did it, or the process did not answer, {times} times in a row: "
    "it is left until somebody begins it again."
)
Begin = Callable[[Job], Awaitable[None]]


class StalledJobSweeper:
    """Sweeps the queues that are served here, each by one process at a time."""

    def __init__(
        self,
        jobs: PatientJobManager,
        contact: ConnectionMonitor,
        pace: ClusterTimings,
        served: Mapping[str, ServedQueue],
    ) -> None:
        self._jobs = jobs
        self._contact = contact
        self._pace = pace
        self._served = served
        self._sweeps = 0

    async def run(self, begin: Begin) -> None:
        """Sweep again and again."""
        while True:
            for queue, served in [*self._served.items()]:
                await self._safely(queue, served, begin)
            await self._count()
            self._sweeps += 1
            await asyncio.sleep(self._pace.sweep_seconds)

    async def _count(self) -> None:
        """Take note of how much work there is, of all processes."""
        with suppress(CouncilError, ConnectorException, Error):  # then it is as it was
            stalled = self._pace.stalled_seconds
            found = await self._jobs.rows(statements.COUNTED, stalled=stalled)
            metrics.works_counted(
                {(row["queue"], JobState(row["state"])): row["works"] for row in found}
            )

    async def fill(self, queue: str, served: ServedQueue, begin: Begin) -> None:
        """Begin what there is to do of a queue and nobody has begun."""
        with told_kindly():
            # First, so that what ends meanwhile is not taken for something new.
            known = {row["name"] for row in await self._jobs.rows(statements.KNOWN, queue=queue)}
        for name in await served.unfinished():
            if name not in known:
                await begin(Job(queue, name))

    async def _safely(self, queue: str, served: ServedQueue, begin: Begin) -> None:
        try:
            await self._sweep(queue, served, begin)
        except (CouncilError, ConnectorException, Error) as error:
            structlog.get_logger().debug("sweep_put_off", queue=queue, why=type(error).__name__)
        # What a queue's owner did not foresee must not keep the others from being swept.
        except Exception:  # noqa: BLE001
            structlog.get_logger().exception("sweep_failed", queue=queue)

    async def _sweep(self, queue: str, served: ServedQueue, begin: Begin) -> None:
        settle = self._pace.settle_seconds
        every = self._pace.sweep_seconds
        turn = await self._jobs.rows(statements.TURN, queue=queue, every=every, settle=settle)
        is_ours = turn[0]["is_ours"]
        if is_ours and turn[0]["is_settled"] and self._contact.held_for(settle):
            await self._take_over(queue)
        # Others may not know of all that is to be done here.
        if is_ours or self._sweeps % OWN_SWEEPS == 0:
            await self.fill(queue, served, begin)
        if is_ours and self._sweeps % CLEAN_SWEEPS == 0:
            await self._clean_up()

    async def _take_over(self, queue: str) -> None:
        """Put back what is done by processes that are heard of no more."""
        # Whoever sweeps lives, even where it was too busy to be heard of.
        await self._jobs.done(statements.LIVING, workers=[*self._own_workers()])
        stalled, most = self._pace.stalled_seconds, self._pace.most_takeovers
        fault = {"kind": "", "why": POISONED.format(times=most)}
        limits = {"queue": queue, "stalled": stalled}
        left = await self._jobs.rows(statements.LEAVE_POISONED, **limits, fault=fault, most=most)
        for row in left:
            structlog.get_logger().error("work_left", queue=queue, name=row["name"], times=most)
        for row in await self._jobs.rows(statements.TAKE_OVER, **limits):
            metrics.taken_over(queue)
            structlog.get_logger().warning(
                "work_taken_over", queue=queue, name=row["name"], times=row["attempts"]
            )

    def _own_workers(self) -> Iterator[int]:
        for served in self._served.values():
            if served.worker.worker_id is not None:
                yield served.worker.worker_id

    async def _clean_up(self) -> None:
        """Delete what has long ended; what happened to it goes with it."""
        await self._jobs.delete_old_jobs(
            KEPT_HOURS, include_failed=True, include_cancelled=True, include_aborted=True
        )
        await self._jobs.done(statements.FORGET_WORKERS)


# --- Work shared out among the processes of a cluster, on Procrastinate.


class JobTakenError(CouncilError):
    """A piece of work is done by another process, or waits for one."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """How a piece of work stands: begun, for so many seconds, or left with a fault."""

    is_queued: bool = False
    seconds: float = 0.0
    fault: Fault | None = None


class ClusterJobQueue:
    """Shares work out as `bot.ports.Works` promises, as long as `running` lasts."""

    def __init__(
        self,
        connector: PsycopgConnector,
        contact: ConnectionMonitor,
        pace: ClusterTimings = PACE,
        clock: Callable[[], float] = clock,
        pulse: PsycopgConnector | None = None,
    ) -> None:
        self._pace = pace
        self._served: dict[str, ServedQueue] = {}
        self.hands = Worker(connector, contact, pace, clock, self._served)
        self._jobs = self.hands.jobs
        self._jobs.pulse = pulse or connector
        self._sweep = StalledJobSweeper(self._jobs, contact, pace, self._served)
        self._app = App(connector=connector)
        self._app.job_manager = self._jobs
        self._app.task(name=statements.TASK, pass_context=True)(self.hands.do)
        self.has = self.hands.has

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Sweep, and look after one's own work, as long as the block lasts."""
        with told_kindly():
            if not await self._app.check_connection_async():
                raise StoreError(NO_TABLES)
        self.hands.fence.start()
        async with beside(self._sweep.run(self.begin), self.hands.look_after()):
            try:
                yield
            finally:
                self.hands.fence.stop()

    async def begin(self, work: Job) -> None:
        """Have it done by whichever process comes first; what is begun already is left alone.

        What was told to stop, and is still doing so, is done once more.
        """
        with told_kindly():
            named = _named(work, {"name": work.name})
            await self._jobs.rows_in_line(lock_of(work), statements.BEGIN, **named)

    async def is_queued(self, work: Job) -> bool:
        """Say whether it is being done, or waits for a process."""
        with told_kindly():
            rows = await self._jobs.rows(statements.IS_BEGUN, lock=lock_of(work))
        return bool(rows[0]["is_begun"])

    async def standing(self, work: Job) -> JobStatus:
        """Give how a piece of work stands."""
        with told_kindly():
            rows = await self._jobs.rows(statements.STANDING, lock=lock_of(work))
        if not rows:
            return JobStatus()
        is_begun = rows[0]["status"] in {"todo", "doing"}
        return JobStatus(is_begun, rows[0]["seconds"], None if is_begun else rows[0]["fault"])

    async def stop(self, work: Job) -> tuple[int, ...]:
        """Have it stopped wherever it is done, and not done again; give what has still to end."""
        with told_kindly():
            rows = await self._jobs.rows(statements.STOP, lock=lock_of(work))
        return tuple(row["id"] for row in rows)

    async def have_ended(self, stopped: tuple[int, ...]) -> bool:
        """Say whether all that `stop` gave has come to its end."""
        with told_kindly():
            return not await self._jobs.rows(statements.STILL_DONE, ids=[*stopped])

    async def try_again(self, queue: str) -> None:
        """Forget what was left of a queue, so that the sweep begins it again."""
        most = self._pace.most_takeovers
        with told_kindly():
            await self._jobs.done(statements.TRY_AGAIN, queue=queue, most=most)

    async def fill(self, queue: str) -> None:
        """Begin at once what there is to do of a queue that is served here."""
        if served := self._served.get(queue):
            await self._sweep.fill(queue, served, self.begin)

    def when_lost(self, hear: Callable[[Job], None]) -> None:
        """Have somebody hear at once of each piece of work that this process loses."""
        self.hands.lost.append(hear)

    def leave(self, queue: str) -> None:
        """Take no more of a queue's work; what is under way has its grace."""
        if served := self._served.get(queue):
            served.leave()

    @asynccontextmanager
    async def serve_queue(  # noqa: PLR0913, PLR0917 - what the port says, and two for rounds
        self,
        queue: str,
        do: Do,
        unfinished: Unfinished,
        at_once: int,
        ended: Ended = nobody,
        grace_seconds: float = 0.0,
    ) -> AsyncIterator[None]:
        """Do the work of a queue, so many pieces at once, as long as the block lasts.

        What is under way at its end has so many seconds of grace, and is given back then. `ended`
        hears of each piece once it is done, left or given back.
        """
        await self._jobs.insisted(partial(self.try_again, queue))
        worker = self._worker(queue, at_once, grace_seconds)
        served = self._served[queue] = ServedQueue(do, unfinished, ended, worker)
        working = asyncio.create_task(self._work(served))
        beating = asyncio.create_task(self._beat_at_last(served))
        try:
            yield
        finally:
            served.leave()
            if worker.worker_id is None:  # it waits for the database, and need not any more
                working.cancel()
            await asyncio.wait([working])
            beating.cancel()
            if self._served.get(queue) is served:
                del self._served[queue]

    @asynccontextmanager
    async def lock(self, work: Job) -> AsyncIterator[None]:
        """Do it in this block, and nobody else meanwhile; no other process goes on with it.

        Raises JobTakenError where another process does it, or where it waits for one.
        """
        with told_kindly():
            worker = await self._jobs.register_worker()
        self.hands.workers.add(worker)
        beating = asyncio.create_task(self._beat(worker))
        try:
            job = await self._taken(work, worker)
            with self.hands.holding(job, work) as doing:
                try:
                    yield
                finally:
                    doing.is_ending = True
                    await self.hands.insisted(partial(self._jobs.done, statements.DONE, id=job))
        finally:
            beating.cancel()
            self.hands.workers.discard(worker)
            await self._jobs.unregister_worker(worker)

    async def _taken(self, work: Job, worker: int) -> int:
        """Give the number of the job that this process has for itself."""
        named, lock = _named(work, {"name": work.name, "alone": True}), lock_of(work)
        silence = {"stalled": self._pace.stalled_seconds, "settle": self._pace.settle_seconds}
        with told_kindly():
            await self._jobs.rows_in_line(lock, statements.FREE, **silence)
            rows = await self._jobs.rows_in_line(
                lock, statements.TAKE_ALONE, **named, worker=worker
            )
        if not rows:
            raise JobTakenError(f"{work.name} is under way in another process.")
        return int(rows[0]["id"])

    async def _beat(self, worker: int) -> None:
        while True:
            await asyncio.sleep(self._pace.heartbeat_seconds)
            await self._jobs.update_heartbeat(worker)

    async def _beat_at_last(self, served: ServedQueue) -> None:
        """Be heard of while a queue that is left comes to its end, when its worker is silent."""
        while True:
            await asyncio.sleep(self._pace.heartbeat_seconds)
            if served.is_left and served.worker.worker_id is not None:
                await self._jobs.update_heartbeat(served.worker.worker_id)

    def _worker(self, queue: str, at_once: int, grace_seconds: float) -> QueueWorker:
        return QueueWorker(
            self._app,
            queues=[queue],
            name=queue,
            concurrency=at_once,
            fetch_job_polling_interval=self._pace.poll_seconds,
            abort_job_polling_interval=self._pace.poll_seconds,
            shutdown_graceful_timeout=grace_seconds,
            delete_jobs="successful",
            install_signal_handlers=False,
            update_heartbeat_interval=self._pace.heartbeat_seconds,
            stalled_worker_timeout=self._pace.stalled_seconds,
        )

    async def _work(self, served: ServedQueue) -> None:
        """Have a queue's worker work, again where it ended by itself."""
        run: Callable[[], Awaitable[None]] = served.worker.run
        while not served.is_left:
            try:
                await run()
            except ConnectorException as error:
                fault = type(error.__cause__ or error).__name__
                structlog.get_logger().error("worker_ended", fault=fault)
            if not served.is_left:
                await asyncio.sleep(PAUSE_SECONDS)


def _named(work: Job, args: dict[str, object]) -> dict[str, object]:
    return {"queue": work.queue, "task": statements.TASK, "args": Jsonb(args)}
