"""Work that nobody does any more, or that nobody has begun, found and put back.

It takes no turn among the work itself: a process that is full of it sweeps all the same.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress

import structlog
from procrastinate.exceptions import ConnectorException
from psycopg import Error

from bot.cluster import statements
from bot.cluster.contact import Contact
from bot.cluster.doing import Served
from bot.cluster.faults import told_kindly
from bot.cluster.jobs import PatientJobs
from bot.cluster.pace import Pace
from bot.observability import metrics
from bot.observability.metrics import WorkState
from bot.ports import Work
from council.errors import CouncilError

KEPT_HOURS = 30 * 24  # what failed is kept so long
OWN_SWEEPS = 6  # half a minute, at the usual pace
CLEAN_SWEEPS = 720  # an hour
POISONED = (
    "It ended the process that did it, or the process did not answer, {times} times in a row: "
    "it is left until somebody begins it again."
)
Begin = Callable[[Work], Awaitable[None]]


class Sweep:
    """Sweeps the queues that are served here, each by one process at a time."""

    def __init__(
        self, jobs: PatientJobs, contact: Contact, pace: Pace, served: Mapping[str, Served]
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
                {(row["queue"], WorkState(row["state"])): row["works"] for row in found}
            )

    async def fill(self, queue: str, served: Served, begin: Begin) -> None:
        """Begin what there is to do of a queue and nobody has begun."""
        with told_kindly():
            # First, so that what ends meanwhile is not taken for something new.
            known = {row["name"] for row in await self._jobs.rows(statements.KNOWN, queue=queue)}
        for name in await served.unfinished():
            if name not in known:
                await begin(Work(queue, name))

    async def _safely(self, queue: str, served: Served, begin: Begin) -> None:
        try:
            await self._sweep(queue, served, begin)
        except (CouncilError, ConnectorException, Error) as error:
            structlog.get_logger().debug("sweep_put_off", queue=queue, why=type(error).__name__)
        # What a queue's owner did not foresee must not keep the others from being swept.
        except Exception:  # noqa: BLE001
            structlog.get_logger().exception("sweep_failed", queue=queue)

    async def _sweep(self, queue: str, served: Served, begin: Begin) -> None:
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
