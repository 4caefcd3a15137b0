"""The runner of one machine: each round is a task of this process.

Knows no chat: whoever wants to see a round watches it, and leaving off watching stops nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace

import structlog

from bot import logs, metrics
from bot.ports import Sight, Sights
from council.convene import convene
from council.errors import CouncilError
from council.panel import Panel
from council.ports import Gateway, Store
from council.prompts.chairing import draft_of
from council.rounds import Round, in_panel_order
from council.sitting import Council

Prepare = Callable[[Panel], Awaitable[None]]
Paying = Callable[[Round, Gateway], AbstractAsyncContextManager[Gateway]]


DRAFT_SECONDS = 0.1


class RoundStoppedError(CouncilError):
    """A round was stopped before its end."""


def _now() -> float:
    return asyncio.get_running_loop().time()


@dataclass(slots=True)
class _Carried:
    """A round under way, and everybody who watches it; times are the event loop's."""

    sight: Sight
    started: float
    drafted: float = 0.0
    task: asyncio.Task[None] | None = None
    watchers: list[asyncio.Queue[Sight | Exception]] = field(default_factory=list)

    def show(self, round_: Round) -> None:
        """Let every watcher see the round as it is now."""
        self.sight = Sight(in_panel_order(round_), self.sight.draft, _now() - self.started)
        self.tell(self.sight)

    def show_draft(self, text: str) -> None:
        """Let every watcher see how far the synthesis is, some times a second."""
        if _now() - self.drafted >= DRAFT_SECONDS:
            self.drafted = _now()
            self.sight = replace(self.sight, draft=draft_of(text), seconds=_now() - self.started)
            self.tell(self.sight)

    def tell(self, news: Sight | Exception) -> None:
        """Let every watcher hear the news, in order."""
        for watcher in self.watchers:
            watcher.put_nowait(news)


@asynccontextmanager
async def _unpaid(_: Round, gateway: Gateway) -> AsyncIterator[Gateway]:
    """Give the gateway as it is: nobody counts what it costs."""
    yield gateway


class LocalRunner:
    """Carries rounds in tasks of this process; `paying` gives each its own way to models."""

    def __init__(
        self, store: Store, gateway: Gateway, prepare: Prepare, paying: Paying = _unpaid
    ) -> None:
        self._store = store
        self._gateway = gateway
        self._prepare = prepare
        self._paying = paying
        self._carried: dict[str, _Carried] = {}

    def start(self, round_: Round) -> None:
        """Carry a stored round to its end; one that is being carried already is left alone."""
        if round_.id in self._carried:
            return
        carried = self._carried[round_.id] = _Carried(Sight(round_), _now())
        carried.task = asyncio.create_task(self._carry(carried, round_))

    def carries(self, round_id: str) -> bool:
        """Say whether the round is being carried on now."""
        return round_id in self._carried

    async def stop(self, round_id: str) -> None:
        """Stop spending on a round; what there is stays, and it can be started again."""
        carried = self._carried.get(round_id)
        if carried and carried.task:
            carried.task.cancel()
            await asyncio.wait([carried.task])

    async def close(self) -> None:
        """Stop every round; each goes on when it is started again."""
        await asyncio.gather(*(self.stop(round_id) for round_id in [*self._carried]))

    @asynccontextmanager
    async def watching(self, round_id: str) -> AsyncIterator[Sights]:
        """Give every sight of a round that is being carried, from the newest one to its end."""
        carried = self._carried.get(round_id)
        if carried is None:
            yield _only(Sight(await self._store.load(round_id)))
            return
        news: asyncio.Queue[Sight | Exception] = asyncio.Queue()
        news.put_nowait(carried.sight)
        carried.watchers.append(news)
        try:
            yield _until_closed(news)
        finally:
            carried.watchers.remove(news)

    async def _carry(self, carried: _Carried, round_: Round) -> None:
        try:
            await self._prepare(round_.panel)
            async with self._paying(round_, self._gateway) as gateway:
                closed = await self._convene(carried, gateway)
        except asyncio.CancelledError:
            carried.tell(RoundStoppedError(f"Round {round_.id} was stopped before its end."))
            raise
        except CouncilError as error:
            carried.tell(error)
        # Nobody may be watching, so what nobody foresaw is logged here as well.
        except Exception as error:  # noqa: BLE001
            structlog.get_logger().exception("round_failed", round_id=round_.id)
            carried.tell(error)
        else:
            logs.round_closed(closed)
            metrics.round_closed(closed)
        finally:
            del self._carried[round_.id]

    async def _convene(self, carried: _Carried, gateway: Gateway) -> Round:
        council = Council(gateway, self._store, on_round=carried.show, on_text=carried.show_draft)
        with metrics.round_under_way():
            return await convene(carried.sight.round_.id, council)


async def _only(sight: Sight) -> Sights:
    yield sight


async def _until_closed(news: asyncio.Queue[Sight | Exception]) -> Sights:
    closed = False
    while not closed:
        new = await news.get()
        if isinstance(new, Exception):
            raise new
        yield new
        closed = new.round_.closing is not None
