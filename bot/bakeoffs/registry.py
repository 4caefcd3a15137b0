"""The bake-offs that this process holds, each in a task, and everybody who watches one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from typing import Protocol

import structlog

from bot.chat import Chat
from bot.coordination.tasks import Sole, stopped
from bot.outbox import Outbox
from bot.ports import JobQueue, PubSub, RoundClaims, Runner
from council.bakeoffs.models import Bakeoff, Progress
from council.bakeoffs.ports import BakeoffStores
from council.budget import Budget
from council.errors import BakeoffError, CouncilError
from council.panel import Panel
from council.places import Place
from council.ports import Gateway, Store
from council.rounds import Question, Round

# --- The bake-offs that this process holds, each in a task, and everybody who watches one.

News = asyncio.Queue[Progress | Exception | None]


class RunningElsewhereError(BakeoffError):
    """Another process holds the bake-off."""


class RunningBakeoff:
    """A bake-off under way: its newest progress, and a bell that has its row read again."""

    def __init__(self, bakeoff: Bakeoff) -> None:
        self.progress = Progress(bakeoff)
        self.bell = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        # What kept it from its end: as long as it has none, that somebody stops it.
        self.fault: Exception | None = BakeoffError(
            f"Bake-off {bakeoff.id} was interrupted; a restart goes on."
        )
        self._watchers: list[News] = []

    def show(self, progress: Progress) -> None:
        """Let every watcher see how it stands."""
        self.progress = progress
        self.publish(progress)

    def publish(self, news: Progress | Exception | None) -> None:
        """Let every watcher hear the news; None is the end of it."""
        for watcher in self._watchers:
            watcher.put_nowait(news)

    @contextmanager
    def watched(self) -> Iterator[News]:
        """Give a queue of all progress from the newest on."""
        news: News = asyncio.Queue()
        news.put_nowait(self.progress)
        self._watchers.append(news)
        try:
            yield news
        finally:
            self._watchers.remove(news)


Carry = Callable[[RunningBakeoff], Awaitable[None]]

UNFORESEEN = "Bake-off {id} was stopped by something unforeseen; the log says what."


class BakeoffRegistry:
    """Who holds what in this process; `claims` are None where no other process can.

    `sole` keeps processes on other machines from what goes by a name, where there can be any.
    """

    def __init__(self, claims: RoundClaims | None = None, sole: Sole | None = None) -> None:
        self._claims = claims
        self._sole = sole
        self._held: dict[str, RunningBakeoff] = {}

    def begin(self, bakeoff: Bakeoff, carry: Carry) -> None:
        """Have a bake-off carried on from now on; one that is held already is left alone.

        Raises RunningElsewhereError where another process holds it.
        """
        if bakeoff.id in self._held:
            return
        if self._claims and not self._claims.take(_claim(bakeoff.id)):
            raise RunningElsewhereError(
                f"Bake-off {bakeoff.id} is being held by another process of this machine."
            )
        held = self._held[bakeoff.id] = RunningBakeoff(bakeoff)
        held.task = asyncio.create_task(self._carry(held, carry))
        # A task that is cancelled before it begins does not do so itself.
        held.task.add_done_callback(lambda _: self._let_go(held))

    async def keep(self, bakeoff: Bakeoff, carry: Carry) -> None:
        """Do as `begin`, and wait for its end; whoever leaves has it stopped.

        Raises CouncilError for what kept it from its end.
        """
        self.begin(bakeoff, carry)
        held = self._held[bakeoff.id]
        with held.watched() as heard:
            try:
                while isinstance(news := await heard.get(), Progress):
                    pass
            finally:
                if held.task:
                    await stopped([held.task])
        if isinstance(news, CouncilError):
            raise news
        if news is not None:
            raise BakeoffError(UNFORESEEN.format(id=bakeoff.id)) from news

    def latest(self, bakeoff_id: str) -> Progress | None:
        """Give how a bake-off stands that is held here, None of any other."""
        held = self._held.get(bakeoff_id)
        return held.progress if held else None

    def ring(self, bakeoff_id: str) -> None:
        """Have its holder read its row again at once."""
        if held := self._held.get(bakeoff_id):
            held.bell.set()

    async def subscribe(self, bakeoff_id: str) -> AsyncIterator[Progress]:
        """Give all progress of a bake-off that is held here, from the newest on to its end.

        Raises what kept it from its end; gives nothing for one that is not held here.
        """
        held = self._held.get(bakeoff_id)
        if held is None:
            return
        with held.watched() as heard:
            while news := await heard.get():
                if isinstance(news, Exception):
                    raise news
                yield news

    @asynccontextmanager
    async def private_place(self, name: str) -> AsyncIterator[bool]:
        """Keep other processes from what goes by a name; False where one of them has it."""
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

    async def let_go(self, chat: str | None = None, workspace: str | None = None) -> None:
        """Leave what reports to a chat where it stands, or all; rounds are the runner's affair."""
        tasks = [
            held.task
            for held in self._held.values()
            if held.task
            and chat in {None, held.progress.bakeoff.place.chat}
            and workspace in {None, held.progress.bakeoff.place.workspace}
        ]
        await stopped(tasks)

    async def _carry(self, held: RunningBakeoff, carry: Carry) -> None:
        bakeoff_id = held.progress.bakeoff.id
        try:
            await carry(held)
            held.fault = None
        except CouncilError as error:
            structlog.get_logger().warning("bakeoff_stopped", bakeoff_id=bakeoff_id, why=str(error))
            held.fault = error
        # Nobody may be watching, so what nobody foresaw is logged here as well.
        except Exception as error:  # noqa: BLE001
            structlog.get_logger().exception("bakeoff_stopped", bakeoff_id=bakeoff_id)
            held.fault = error
        finally:
            self._let_go(held)

    def _let_go(self, held: RunningBakeoff) -> None:
        """Hold a bake-off no more, and tell whoever watches it what kept it from its end."""
        bakeoff_id = held.progress.bakeoff.id
        if self._held.get(bakeoff_id) is held:
            del self._held[bakeoff_id]
            if self._claims:
                self._claims.free(_claim(bakeoff_id))
            held.publish(held.fault)


def _claim(bakeoff_id: str) -> str:
    return f"bakeoff {bakeoff_id}"


# --- What bake-offs are held with: parts of the bot that the desk has. Knows no command.


class BakeoffContext(Protocol):
    """The parts; `ways` give the chats that are connected, by name."""

    @property
    def store(self) -> Store:
        """Where rounds are kept."""
        ...

    @property
    def gateway(self) -> Gateway:
        """The way to models."""
        ...

    @property
    def runner(self) -> Runner:
        """Who carries rounds on."""
        ...

    @property
    def outbox(self) -> Outbox:
        """Where posts go out."""
        ...

    @property
    def bakeoff_stores(self) -> BakeoffStores:
        """Where suites, bake-offs and records are kept."""
        ...

    @property
    def budget(self) -> Budget:
        """The house's money."""
        ...

    @property
    def panels(self) -> Mapping[str, Panel]:
        """The panels that can be chosen."""
        ...

    @property
    def bakeoff_registry(self) -> BakeoffRegistry:
        """The bake-offs that this process holds."""
        ...

    @property
    def job_queue(self) -> JobQueue | None:
        """What shares out work among the processes of a cluster; None where there is one."""
        ...

    @property
    def pubsub(self) -> PubSub:
        """What every process hears."""
        ...

    @property
    def shards(self) -> int:
        """How many connections Discord deals its servers out among."""
        ...

    @property
    def chats(self) -> Mapping[str, Callable[[Place], Chat | None]]:
        """What gives the chat for a place, by the chat's name."""
        ...

    @property
    def bakeoff_rounds(self) -> int:
        """How many rounds of one bake-off are under way at once."""
        ...

    @property
    def now(self) -> Callable[[], datetime]:
        """The clock."""
        ...

    def new_round(self, question: Question, panel: Panel, seed: str | None, key: str) -> Round:
        """Give a round that is not stored yet."""
        ...

    async def open(self, round_: Round) -> bool:
        """Keep a new round, its money reserved; False if it is kept already."""
        ...
