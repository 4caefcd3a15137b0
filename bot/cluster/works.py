"""Work shared out among the processes of a cluster, on Procrastinate.

Each queue that is served has a worker of its own. Rows of Procrastinate's say who does what; a
process that cannot be heard of loses its work to others, and lets go of it by itself.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import structlog
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.worker import Worker
from psycopg.types.json import Jsonb

from bot.cluster import statements
from bot.cluster.contact import Contact
from bot.cluster.doing import Ended, Fault, Served, lock_of, nobody
from bot.cluster.faults import NO_TABLES, told_kindly
from bot.cluster.hands import Hands
from bot.cluster.jobs import PAUSE_SECONDS
from bot.cluster.pace import PACE, Pace, clock
from bot.cluster.sweep import Sweep
from bot.coordination.tasks import beside
from bot.ports import Do, Unfinished, Work
from council.errors import CouncilError, StoreError


class TakenError(CouncilError):
    """A piece of work is done by another process, or waits for one."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a piece of work stands: begun, for so many seconds, or left with a fault."""

    is_begun: bool = False
    seconds: float = 0.0
    fault: Fault | None = None


class ClusterWorks:
    """Shares work out as `bot.ports.Works` promises, as long as `running` lasts."""

    def __init__(
        self,
        connector: PsycopgConnector,
        contact: Contact,
        pace: Pace = PACE,
        clock: Callable[[], float] = clock,
        pulse: PsycopgConnector | None = None,
    ) -> None:
        self._pace = pace
        self._served: dict[str, Served] = {}
        self.hands = Hands(connector, contact, pace, clock, self._served)
        self._jobs = self.hands.jobs
        self._jobs.pulse = pulse or connector
        self._sweep = Sweep(self._jobs, contact, pace, self._served)
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

    async def begin(self, work: Work) -> None:
        """Have it done by whichever process comes first; what is begun already is left alone.

        What was told to stop, and is still doing so, is done once more.
        """
        with told_kindly():
            named = _named(work, {"name": work.name})
            await self._jobs.rows_in_line(lock_of(work), statements.BEGIN, **named)

    async def is_begun(self, work: Work) -> bool:
        """Say whether it is being done, or waits for a process."""
        with told_kindly():
            rows = await self._jobs.rows(statements.IS_BEGUN, lock=lock_of(work))
        return bool(rows[0]["is_begun"])

    async def standing(self, work: Work) -> Standing:
        """Give how a piece of work stands."""
        with told_kindly():
            rows = await self._jobs.rows(statements.STANDING, lock=lock_of(work))
        if not rows:
            return Standing()
        is_begun = rows[0]["status"] in {"todo", "doing"}
        return Standing(is_begun, rows[0]["seconds"], None if is_begun else rows[0]["fault"])

    async def stop(self, work: Work) -> tuple[int, ...]:
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

    def when_lost(self, hear: Callable[[Work], None]) -> None:
        """Have somebody hear at once of each piece of work that this process loses."""
        self.hands.lost.append(hear)

    def leave(self, queue: str) -> None:
        """Take no more of a queue's work; what is under way has its grace."""
        if served := self._served.get(queue):
            served.leave()

    @asynccontextmanager
    async def serving(  # noqa: PLR0913, PLR0917 - what the port says, and two for rounds
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
        served = self._served[queue] = Served(do, unfinished, ended, worker)
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
    async def alone(self, work: Work) -> AsyncIterator[None]:
        """Do it in this block, and nobody else meanwhile; no other process goes on with it.

        Raises TakenError where another process does it, or where it waits for one.
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

    async def _taken(self, work: Work, worker: int) -> int:
        """Give the number of the job that this process has for itself."""
        named, lock = _named(work, {"name": work.name, "alone": True}), lock_of(work)
        silence = {"stalled": self._pace.stalled_seconds, "settle": self._pace.settle_seconds}
        with told_kindly():
            await self._jobs.rows_in_line(lock, statements.FREE, **silence)
            rows = await self._jobs.rows_in_line(
                lock, statements.TAKE_ALONE, **named, worker=worker
            )
        if not rows:
            raise TakenError(f"{work.name} is under way in another process.")
        return int(rows[0]["id"])

    async def _beat(self, worker: int) -> None:
        while True:
            await asyncio.sleep(self._pace.heartbeat_seconds)
            await self._jobs.update_heartbeat(worker)

    async def _beat_at_last(self, served: Served) -> None:
        """Be heard of while a queue that is left comes to its end, when its worker is silent."""
        while True:
            await asyncio.sleep(self._pace.heartbeat_seconds)
            if served.is_left and served.worker.worker_id is not None:
                await self._jobs.update_heartbeat(served.worker.worker_id)

    def _worker(self, queue: str, at_once: int, grace_seconds: float) -> Worker:
        return Worker(
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

    async def _work(self, served: Served) -> None:
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


def _named(work: Work, args: dict[str, object]) -> dict[str, object]:
    return {"queue": work.queue, "task": statements.TASK, "args": Jsonb(args)}
