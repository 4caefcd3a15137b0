"""Background tasks: run alongside a block, race, cancel with the bot, and be watched."""

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterator,
    ValuesView,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any, Generic, TypeVar

from bot.ports import RoundClaims, RoundSnapshot
from council.prompts.synthesis import visible_draft
from council.rounds import Round, sort_by_panel

State = TypeVar("State")
Running = TypeVar("Running", bound="RunningTask[Any]")

CANCEL_AGAIN_SECONDS = 10.0
DRAFT_SECONDS = 0.1  # between two drafts of a synthesis

# Tries to acquire a named lock across processes; yields False if another process has it.
TryLock = Callable[[str], AbstractAsyncContextManager[bool]]


@asynccontextmanager
async def running_alongside(*coroutines: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Run coroutines as tasks for the duration of the block, then cancel them."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        yield
    finally:
        await cancel_and_wait(tasks)


async def run_until_first(*coroutines: Coroutine[None, None, object]) -> None:
    """Run coroutines until one ends, cancel the others, and raise the error it ended with."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await cancel_and_wait(tasks)


async def cancel_and_wait(tasks: Collection[asyncio.Future[Any]]) -> None:
    """Cancel tasks and wait for them to end; ignore the errors they end with.

    Cancel again what still runs after a while: Python 3.11's `wait_for`, which drivers use, loses a
    cancellation that arrives together with the result.
    """
    running = set(tasks)
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=CANCEL_AGAIN_SECONDS)
    await asyncio.gather(*tasks, return_exceptions=True)


class BackgroundTasks:
    """Tasks that nobody awaits until they are closed."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[None]] = set()

    def start(self, awaitable: Awaitable[None]) -> None:
        """Start a task; a reference is stored, because the event loop holds none."""
        task = asyncio.ensure_future(awaitable)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Wait until all tasks have ended, including those started meanwhile."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Cancel all tasks; the rounds they showed run on, and are delivered after a restart."""
        await cancel_and_wait(self._tasks)


class RunningTask(Generic[State]):
    """A running task: its newest state, its subscribers, and the error that ends it so far."""

    def __init__(self, id_: str, state: State, interrupted: Exception) -> None:
        self.id = id_
        self.state = state
        self.task: asyncio.Task[None] | None = None
        self.error: Exception | None = interrupted
        self._subscribers: list[asyncio.Queue[State | Exception | None]] = []

    def newest(self) -> State:
        """Return the newest state, as it is now."""
        return self.state

    def publish(self, state: State) -> None:
        """Store the newest state and send it to every subscriber."""
        self.state = state
        for queue in self._subscribers:
            queue.put_nowait(state)

    def publish_end(self) -> None:
        """Send its error to every subscriber, None if it succeeded."""
        for queue in self._subscribers:
            queue.put_nowait(self.error)

    @contextmanager
    def subscription(self) -> Iterator["asyncio.Queue[State | Exception | None]"]:
        """Yield a queue of every state, starting with the newest; then its error or None."""
        queue: asyncio.Queue[State | Exception | None] = asyncio.Queue()
        queue.put_nowait(self.newest())
        self._subscribers.append(queue)
        try:
            yield queue
        finally:
            self._subscribers.remove(queue)


class RoundTask(RunningTask[RoundSnapshot]):
    """A task on a round whose chairman writes: its clock, and the text as far as it is written."""

    def __init__(self, round_: Round, interrupted: Exception, clock: Callable[[], float]) -> None:
        super().__init__(round_.id, RoundSnapshot(round_), interrupted)
        self._clock = clock
        self._started_at: float | None = None
        self._drafted_at = 0.0

    @property
    def seconds(self) -> float | None:
        """How long it has been running; None while it waits for its turn or for its models."""
        return None if self._started_at is None else self._clock() - self._started_at

    def start_clock(self) -> None:
        """Count seconds from now, as the round does."""
        self._started_at = self._clock()
        self.publish(self.newest())

    def newest(self) -> RoundSnapshot:
        """Return the newest snapshot with the seconds that have passed until now."""
        return replace(self.state, seconds=self.seconds)

    def show(self, round_: Round) -> None:
        """Publish the round as it is now."""
        self.publish(RoundSnapshot(sort_by_panel(round_), self.state.draft, self.seconds))

    def show_draft(self, text: str) -> None:
        """Publish the synthesis as far as it is written, at most every `DRAFT_SECONDS`."""
        if self._clock() - self._drafted_at < DRAFT_SECONDS:
            return
        if (draft := visible_draft(text)) != self.state.draft:
            self._drafted_at = self._clock()
            self.publish(replace(self.state, draft=draft, seconds=self.seconds))


async def states(queue: "asyncio.Queue[State | Exception | None]") -> AsyncIterator[State]:
    """Yield the states in a subscriber's queue until the end; raise the error at the end."""
    while (event := await queue.get()) is not None:
        if isinstance(event, Exception):
            raise event
        yield event


class TaskRegistry(Generic[Running]):
    """The running tasks of this process by id; `claims` keep each to one process of a machine."""

    def __init__(
        self, log_failure: Callable[[str, Exception], None], claims: RoundClaims | None = None
    ) -> None:
        self._log_failure = log_failure
        self._claims = claims
        self._running: dict[str, Running] = {}

    def get(self, id_: str) -> Running | None:
        """Return a running task, else None."""
        return self._running.get(id_)

    def all(self) -> ValuesView[Running]:
        """Return every running task."""
        return self._running.values()

    def start(self, running: Running, work: Callable[[Running], Awaitable[None]]) -> bool:
        """Start a task; do nothing if it runs here. Return False if another process claims it."""
        if running.id in self._running:
            return True
        if self._claims and not self._claims.take(running.id):
            return False
        self._running[running.id] = running
        running.task = asyncio.create_task(self._run(running, work))
        # A task that is cancelled before its first step never reaches its `finally`.
        running.task.add_done_callback(lambda _: self._remove(running))
        return True

    async def _run(self, running: Running, work: Callable[[Running], Awaitable[None]]) -> None:
        try:
            await work(running)
            running.error = None
        # A bug is logged here as well, because there may be no subscriber to log it.
        except Exception as error:  # noqa: BLE001
            self._log_failure(running.id, error)
            running.error = error
        finally:
            self._remove(running)

    def _remove(self, running: Running) -> None:
        if self._running.get(running.id) is running:
            del self._running[running.id]
            if self._claims:
                self._claims.free(running.id)
            running.publish_end()
