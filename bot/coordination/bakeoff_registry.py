"""Registry of the bake-offs that run in this process: one task each, with its subscribers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import structlog

from bot.coordination.tasks import TryLock, cancel_and_wait
from bot.ports import RoundClaims
from council.bakeoffs.models import Bakeoff, BakeoffProgress
from council.errors import BakeoffError, CouncilError

STOPPED_BY_BUG = "Bake-off {id} was stopped by something unforeseen; the log says what."

ProgressQueue = asyncio.Queue[BakeoffProgress | Exception | None]  # None is the end


class RunningElsewhereError(BakeoffError):
    """Another process runs the bake-off."""


class RunningBakeoff:
    """A running bake-off: its task, its newest progress and its subscribers.

    Setting `reload` makes the runner read the bake-off's row at once.
    """

    def __init__(self, bakeoff: Bakeoff) -> None:
        self.progress = BakeoffProgress(bakeoff)
        self.reload = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        # Holds until the run succeeds or fails: a task that is cancelled was interrupted.
        self.error: Exception | None = BakeoffError(
            f"Bake-off {bakeoff.id} was interrupted; a restart goes on."
        )
        self._subscribers: list[ProgressQueue] = []

    def update(self, progress: BakeoffProgress) -> None:
        """Store the newest progress and publish it."""
        self.progress = progress
        self.publish(progress)

    def publish(self, event: BakeoffProgress | Exception | None) -> None:
        """Send an event to every subscriber; None is the end."""
        for queue in self._subscribers:
            queue.put_nowait(event)

    @contextmanager
    def subscription(self) -> Iterator[ProgressQueue]:
        """Yield a queue of all progress, starting with the newest."""
        queue: ProgressQueue = asyncio.Queue()
        queue.put_nowait(self.progress)
        self._subscribers.append(queue)
        try:
            yield queue
        finally:
            self._subscribers.remove(queue)


RunBakeoff = Callable[[RunningBakeoff], Awaitable[None]]


class BakeoffRegistry:
    """Starts bake-offs as tasks and stops them.

    `claims` keep a bake-off to one process of this machine; None where there is no other process.
    `sole` does the same across machines, where there can be several.
    """

    def __init__(self, claims: RoundClaims | None = None, sole: TryLock | None = None) -> None:
        self._claims = claims
        self._sole = sole
        self._running: dict[str, RunningBakeoff] = {}

    def start(self, bakeoff: Bakeoff, run: RunBakeoff) -> None:
        """Start a bake-off in a task; do nothing if it is running here.

        Raise RunningElsewhereError if another process runs it.
        """
        if bakeoff.id in self._running:
            return
        if self._claims and not self._claims.take(_claim(bakeoff.id)):
            raise RunningElsewhereError(
                f"Bake-off {bakeoff.id} is being held by another process of this machine."
            )
        running = self._running[bakeoff.id] = RunningBakeoff(bakeoff)
        running.task = asyncio.create_task(self._run(running, run))
        # A task that is cancelled before its first step does not run its own clean-up.
        running.task.add_done_callback(lambda _: self._remove(running))

    async def run(self, bakeoff: Bakeoff, run: RunBakeoff) -> None:
        """Start a bake-off and wait for its end; cancelling the wait stops the bake-off.

        Raise CouncilError if it fails.
        """
        self.start(bakeoff, run)
        running = self._running[bakeoff.id]
        with running.subscription() as events:
            try:
                while isinstance(event := await events.get(), BakeoffProgress):
                    pass
            finally:
                if running.task:
                    await cancel_and_wait([running.task])
        if isinstance(event, CouncilError):
            raise event
        if event is not None:
            raise BakeoffError(STOPPED_BY_BUG.format(id=bakeoff.id)) from event

    def latest(self, bakeoff_id: str) -> BakeoffProgress | None:
        """Return the newest progress of a bake-off that runs here, else None."""
        running = self._running.get(bakeoff_id)
        return running.progress if running else None

    def reload(self, bakeoff_id: str) -> None:
        """Make the runner of a bake-off read its row again at once, if it runs here."""
        if running := self._running.get(bakeoff_id):
            running.reload.set()

    async def subscribe(self, bakeoff_id: str) -> AsyncIterator[BakeoffProgress]:
        """Yield the progress of a bake-off that runs here, from the newest to its end.

        Raise the error that it failed with. Yield nothing if it does not run here.
        """
        running = self._running.get(bakeoff_id)
        if running is None:
            return
        with running.subscription() as events:
            while event := await events.get():
                if isinstance(event, Exception):
                    raise event
                yield event

    @asynccontextmanager
    async def acquire(self, name: str) -> AsyncIterator[bool]:
        """Try to acquire a named lock across processes; yield False if another process has it."""
        if self._sole:
            async with self._sole(name) as is_ours:
                yield is_ours
            return
        is_ours = self._claims is None or self._claims.take(name)
        try:
            yield is_ours
        finally:
            if self._claims and is_ours:
                self._claims.free(name)

    async def stop(self, chat: str | None = None, workspace: str | None = None) -> None:
        """Stop the bake-offs that report to a chat or workspace, or all; their rounds run on."""
        tasks = [
            running.task
            for running in self._running.values()
            if running.task
            and chat in {None, running.progress.bakeoff.place.chat}
            and workspace in {None, running.progress.bakeoff.place.workspace}
        ]
        await cancel_and_wait(tasks)

    async def _run(self, running: RunningBakeoff, run: RunBakeoff) -> None:
        bakeoff_id = running.progress.bakeoff.id
        try:
            await run(running)
            running.error = None
        except CouncilError as error:
            structlog.get_logger().warning("bakeoff_stopped", bakeoff_id=bakeoff_id, why=str(error))
            running.error = error
        # There may be no subscriber, so a bug is logged here as well.
        except Exception as error:  # noqa: BLE001
            structlog.get_logger().exception("bakeoff_stopped", bakeoff_id=bakeoff_id)
            running.error = error
        finally:
            self._remove(running)

    def _remove(self, running: RunningBakeoff) -> None:
        """Forget a bake-off, and publish its error or its end."""
        bakeoff_id = running.progress.bakeoff.id
        if self._running.get(bakeoff_id) is running:
            del self._running[bakeoff_id]
            if self._claims:
                self._claims.free(_claim(bakeoff_id))
            running.publish(running.error)


def _claim(bakeoff_id: str) -> str:
    return f"bakeoff {bakeoff_id}"
