"""One address as one process sees it: its turns, its waiters, and the clerk that sees to them.

Knows no SQL. However many calls come and go, one visit at a time is made for all of them. Where a
visit fails or takes too long, whoever waits is let through: the process' own limits still hold.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex

from council.errors import StoreError
from council.providers import Crowd, Limits
from storage.turns.counting import Asked, Seen

PATIENCE_SECONDS = 5.0  # what a visit may take before calls go on without it
POLL_SECONDS = 0.4  # how often who waits looks, where nobody says that a turn came free
FULL_SECONDS = 2.0  # and at most between two looks while the minute is full
LOOK_SECONDS = 10.0  # how often what is held is renewed, and the others are looked at
AWAY_SECONDS = 1.0

Visit = Callable[[Limits, Asked], Awaitable[Seen]]


def _unheard(_: bool) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Told:
    """Whom a gate tells: others that there is room for them, and us whether turns are counted."""

    has_room: Callable[[], None] = lambda: None
    counts: Callable[[bool], None] = _unheard


class Gate:
    """Gives turns at one address; `crowd` is what all processes had there when last looked."""

    def __init__(self, visit: Visit, told: Told = Told()) -> None:
        self.crowd: Crowd | None = None
        self._visit = visit
        self._told = told
        self._limits = Limits()
        self._held: dict[str, None] = {}
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._bell = asyncio.Event()
        self._counts = True
        self._full_seconds = 0.0
        self._clerk: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def turn(self, limits: Limits) -> AsyncIterator[None]:
        """Wait for a turn and hold it as long as the block lasts."""
        ticket = token_hex(8)
        try:
            await self._let_in(ticket, limits)
            yield
        finally:
            self._held.pop(ticket, None)
            self._waiting.pop(ticket, None)
            self._bell.set()

    def ring(self) -> None:
        """Have the clerk look at once, where anybody waits."""
        if self._waiting:
            self._bell.set()

    async def close(self) -> None:
        """Look no more; who still waits is let through."""
        if self._clerk:
            self._clerk.cancel()
            await asyncio.wait({self._clerk}, timeout=PATIENCE_SECONDS)

    async def _let_in(self, ticket: str, limits: Limits) -> None:
        self._limits = limits
        if self._clerk is None or self._clerk.done():
            self._clerk = asyncio.create_task(self._attend())
        if not self._counts:
            self._held[ticket] = None
            return
        self._waiting[ticket] = asyncio.get_running_loop().create_future()
        self._bell.set()
        await self._waiting[ticket]

    async def _attend(self) -> None:
        try:
            while True:
                self._bell.clear()
                await self._look()
                await self._rest()
        finally:
            self._go_without()

    async def _look(self) -> None:
        asked = Asked(tuple(self._held), tuple(self._waiting))
        visit = asyncio.ensure_future(self._visit(self._limits, asked))
        try:
            await asyncio.wait({visit}, timeout=PATIENCE_SECONDS)
            if not visit.done():
                self._go_without()
            self._note(await asyncio.shield(visit))
        except StoreError:
            self._go_without()
        except asyncio.CancelledError:  # what is begun in the database comes to its end
            await asyncio.wait({visit}, timeout=PATIENCE_SECONDS)
            raise

    def _note(self, seen: Seen) -> None:
        self._say(counts=True)
        self.crowd, self._full_seconds = seen.crowd, seen.full_seconds
        for ticket in seen.let_in:
            if ticket in self._waiting:
                self._through(ticket)
            elif ticket not in self._held:  # its caller left meanwhile: give it back at once
                self._bell.set()
        if seen.others_wait:
            self._told.has_room()

    def _go_without(self) -> None:
        """Let everybody through; they are noted as soon as turns can be counted again."""
        self._say(counts=False)
        self.crowd = None
        for ticket in [*self._waiting]:
            self._through(ticket)

    def _through(self, ticket: str) -> None:
        let_in = self._waiting.pop(ticket)
        if not let_in.done():
            self._held[ticket] = None
            let_in.set_result(None)

    def _say(self, *, counts: bool) -> None:
        if counts is not self._counts:
            self._counts = counts
            self._told.counts(counts)

    async def _rest(self) -> None:
        """Wait for a reason to look again."""
        if not self._counts:
            await asyncio.sleep(AWAY_SECONDS)
            return
        seconds = LOOK_SECONDS
        if self._waiting:
            poll = POLL_SECONDS * random.uniform(0.5, 1.5)  # noqa: S311 - so that looks spread
            seconds = min(self._full_seconds, FULL_SECONDS) or poll
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._bell.wait()
