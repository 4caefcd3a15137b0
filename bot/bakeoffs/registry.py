"""Registry of the bake-offs that run in this process: one task each, with its subscribers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import structlog

from bot.coordination.tasks import RunningTask, TaskRegistry, cancel_and_wait, states
from bot.ports import RoundClaims
from council.bakeoffs.models import Bakeoff, BakeoffProgress
from council.errors import BakeoffError, CouncilError

STOPPED_BY_BUG = "The bake-off of {suite} stopped because of an unexpected error; see the log."


class RunningElsewhereError(BakeoffError):
    """Another process runs the bake-off."""


class RunningBakeoff(RunningTask[BakeoffProgress]):
    """A running bake-off; setting `reload` makes its runner read the bake-off's row at once."""

    def __init__(self, bakeoff: Bakeoff) -> None:
        interrupted = BakeoffError(
            f"The bake-off of {bakeoff.suite.name} was interrupted. It resumes when the program "
            "restarts."
        )
        super().__init__(bakeoff.id, BakeoffProgress(bakeoff), interrupted)
        self.reload = asyncio.Event()


RunBakeoff = Callable[[RunningBakeoff], Awaitable[None]]


class BakeoffRegistry:
    """Starts and stops bake-offs; `claims` keep each to one process."""

    def __init__(self, claims: RoundClaims | None = None) -> None:
        self._tasks = TaskRegistry[RunningBakeoff](_log_failure, claims)

    def start(self, bakeoff: Bakeoff, run: RunBakeoff) -> None:
        """Start a bake-off unless it runs here; raise RunningElsewhereError if elsewhere."""
        if not self._tasks.start(RunningBakeoff(bakeoff), run):
            raise RunningElsewhereError(
                f"The bake-off of {bakeoff.suite.name} is already running in another process on "
                "this machine."
            )

    async def run(self, bakeoff: Bakeoff, run: RunBakeoff) -> None:
        """Run a bake-off to its end, and stop it when cancelled; raise CouncilError if it fails."""
        self.start(bakeoff, run)
        if not (running := self._tasks.get(bakeoff.id)):
            return
        with running.subscription() as events:
            try:
                async for _ in states(events):
                    pass
            except CouncilError:
                raise
            except Exception as error:
                raise BakeoffError(STOPPED_BY_BUG.format(suite=bakeoff.suite.name)) from error
            finally:
                if running.task:
                    await cancel_and_wait([running.task])

    def latest(self, bakeoff_id: str) -> BakeoffProgress | None:
        """Return the newest progress of a bake-off that runs here, else None."""
        running = self._tasks.get(bakeoff_id)
        return running.state if running else None

    def reload(self, bakeoff_id: str) -> None:
        """Make the runner of a bake-off read its row again at once, if it runs here."""
        if running := self._tasks.get(bakeoff_id):
            running.reload.set()

    async def subscribe(self, bakeoff_id: str) -> AsyncIterator[BakeoffProgress]:
        """Yield the progress of a bake-off that runs here; raise the error that it failed with."""
        if running := self._tasks.get(bakeoff_id):
            with running.subscription() as events:
                async for progress in states(events):
                    yield progress

    async def stop(self, chat: str | None = None, workspace: str | None = None) -> None:
        """Stop the bake-offs that report to a chat or workspace, or all; their rounds run on."""
        tasks = [
            running.task
            for running in self._tasks.all()
            if running.task
            and chat in {None, running.state.bakeoff.place.chat}
            and workspace in {None, running.state.bakeoff.place.workspace}
        ]
        await cancel_and_wait(tasks)


def _log_failure(bakeoff_id: str, error: Exception) -> None:
    log = structlog.get_logger()
    if isinstance(error, CouncilError):
        log.warning("bakeoff_stopped", bakeoff_id=bakeoff_id, why=str(error))
    else:
        log.error("bakeoff_stopped", bakeoff_id=bakeoff_id, exc_info=error)
