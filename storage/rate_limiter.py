"""What is asked of Postgres about turns, in its own words; every moment is the database's."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from hashlib import sha256
from secrets import token_hex
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from council.errors import StoreError
from council.providers import Limits, ProviderLoad
from storage.transactions import retried_and_shielded, retry_seconds, transaction

# --- What is asked of Postgres about turns, in its own words; every moment is the database's.

# One visit at a time at each address; what is lost with the machine need not reach its disk.
LOCK_GATE = text(
    "SELECT set_config('synchronous_commit', 'off', true), "
    "pg_advisory_xact_lock(CAST(:lock AS bigint))"
)

# A ticket of ours that we no longer name was given back, or left by who waited.
RENEW_TICKETS = text(
    """
    UPDATE turn SET
      until = statement_timestamp() + CASE
        WHEN id = ANY(CAST(:held AS text[])) THEN CAST(:held_for AS interval)
        WHEN id = ANY(CAST(:waiting AS text[])) THEN CAST(:waiting_for AS interval)
        ELSE interval '0' END,
      begun_at = CASE
        WHEN id = ANY(CAST(:held AS text[])) THEN coalesce(begun_at, statement_timestamp())
        ELSE begun_at END
    WHERE gate = :gate AND holder = :holder AND (
      until > statement_timestamp()
      OR id = ANY(CAST(:held AS text[])) OR id = ANY(CAST(:waiting AS text[])))
    RETURNING id, begun_at IS NOT NULL AS has_begun
    """
)

INSERT_TICKETS = text(
    """
    INSERT INTO turn (id, gate, holder, asked_at, begun_at, until)
    SELECT id, :gate, :holder, statement_timestamp() + nth * interval '1 microsecond',
      CASE WHEN CAST(:has_begun AS boolean) THEN statement_timestamp() END,
      statement_timestamp() + CAST(:lasts AS interval)
    FROM unnest(CAST(:ids AS text[])) WITH ORDINALITY AS ticket (id, nth)
    """
)

# Who waits elsewhere and is late keeps its place for a while.
DELETE_EXPIRED = text(
    """
    DELETE FROM turn WHERE gate = :gate AND until <= statement_timestamp() AND CASE
      WHEN begun_at IS NOT NULL THEN begun_at <= statement_timestamp() - CAST(:window AS interval)
      ELSE holder = :holder OR until <= statement_timestamp() - CAST(:held_for AS interval) END
    """
)

# Of those that are first in line, whosever they are, each process lets in its own.
ADMIT_FIRST = text(
    """
    WITH counted AS (
      SELECT count(*) FILTER (WHERE until > statement_timestamp()) AS held,
        count(*) FILTER (
          WHERE begun_at > statement_timestamp() - CAST(:window AS interval)) AS begun
      FROM turn WHERE gate = :gate AND begun_at IS NOT NULL
    ), foremost AS (
      SELECT id FROM turn
      WHERE gate = :gate AND begun_at IS NULL AND until > statement_timestamp()
      ORDER BY asked_at, id LIMIT (
        SELECT greatest(0, least(CAST(:concurrency AS bigint) - held,
          CAST(:most AS bigint) - begun)) FROM counted)
    )
    UPDATE turn SET begun_at = statement_timestamp(),
      until = statement_timestamp() + CAST(:held_for AS interval)
    WHERE holder = :holder AND id IN (SELECT id FROM foremost)
    RETURNING id
    """
)

COUNT_TICKETS = text(
    """
    SELECT
      count(*) FILTER (WHERE begun_at IS NOT NULL AND until > statement_timestamp()) AS under_way,
      count(*) FILTER (WHERE begun_at IS NULL AND until > statement_timestamp()) AS waiting,
      count(*) FILTER (
        WHERE begun_at IS NULL AND until > statement_timestamp() AND holder <> :holder) AS others,
      count(*) FILTER (
        WHERE begun_at > statement_timestamp() - CAST(:window AS interval)) AS begun,
      extract(epoch FROM min(begun_at) FILTER (
        WHERE begun_at > statement_timestamp() - CAST(:window AS interval))
        + CAST(:window AS interval) - statement_timestamp()) AS next_seconds
    FROM turn WHERE gate = :gate
    """
)

RELEASE_ALL = text(
    """
    UPDATE turn SET until = statement_timestamp()
    WHERE holder = :holder AND until > statement_timestamp()
    """
)


# --- Turns counted in the database, one visit after another at each address.

# A process that does not renew what it holds for so long is taken for dead.
HELD_SECONDS = 30.0
# Who waits and is not heard of is passed over by others much sooner, and keeps its place.
WAITING_SECONDS = 6.0
# Half a second more than a minute: calls take some time to a provider, and not always the same.
MINUTE_SECONDS = 60.5
_ANY_NUMBER = 2**31
_LOCK_BYTES = 8


@dataclass(frozen=True, slots=True)
class TicketRequest:
    """A process' tickets at one address: those that hold a turn, and those that wait, in order."""

    held: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TicketSnapshot:
    """What a visit came to: who was let in, and how it stands.

    `others_wait` says that somebody of another process could have a turn now; `full_seconds` how
    long the minute is full, 0 where it is not.
    """

    admit: tuple[str, ...]
    crowd: ProviderLoad
    others_wait: bool = False
    full_seconds: float = 0.0


class TicketTable:
    """Tickets as rows; `minute_seconds` is the time over which beginnings are counted."""

    def __init__(
        self, engine: AsyncEngine, holder: str, minute_seconds: float = MINUTE_SECONDS
    ) -> None:
        self._engine = engine
        self._holder = holder
        self._minute = timedelta(seconds=minute_seconds)

    async def visit(self, gate: str, limits: Limits, asked: TicketRequest) -> TicketSnapshot:
        """Note what we have at an address, and let in whose turn it is; raises StoreError.

        What we had there and do not name any more is given back.
        """
        retry_seconds.set(0.0)  # nobody waits for a second try
        return await self._visit(gate, limits, asked)

    async def leave(self) -> None:
        """Give back all that this process has, everywhere."""
        retry_seconds.set(0.0)
        await self._leave()

    @retried_and_shielded
    async def _visit(self, gate: str, limits: Limits, asked: TicketRequest) -> TicketSnapshot:
        own = {"gate": gate, "holder": self._holder, **self._bounds(limits)}
        async with transaction(self._engine) as connection:
            await connection.execute(LOCK_GATE, {"lock": _lock_key(gate)})
            begun = await _renew_or_insert(connection, asked, own)
            await connection.execute(DELETE_EXPIRED, own)
            found = await connection.execute(ADMIT_FIRST, own)
            let_in = {*found.scalars(), *begun}
            look = (await connection.execute(COUNT_TICKETS, own)).mappings().one()
        return _snapshot(tuple(one for one in asked.waiting if one in let_in), look, limits)

    @retried_and_shielded
    async def _leave(self) -> None:
        async with transaction(self._engine) as connection:
            await connection.execute(RELEASE_ALL, {"holder": self._holder})

    def _bounds(self, limits: Limits) -> dict[str, Any]:
        paced = limits.requests_per_minute is not None
        return {
            "window": self._minute if paced else timedelta(),
            "most": limits.requests_per_minute if paced else _ANY_NUMBER,
            "concurrency": limits.concurrency,
            "held_for": timedelta(seconds=HELD_SECONDS),
            "waiting_for": timedelta(seconds=WAITING_SECONDS),
        }


async def _renew_or_insert(
    connection: AsyncConnection, asked: TicketRequest, own: dict[str, Any]
) -> tuple[str, ...]:
    """Have a row for each ticket; give those that wait here and hold a turn there.

    That is one whose turn was noted by a visit of which nobody heard the end.
    """
    tickets = {"held": [*asked.held], "waiting": [*asked.waiting]}
    found = (await connection.execute(RENEW_TICKETS, {**own, **tickets})).all()
    known = {row.id for row in found}
    for ids, has_begun in ((asked.held, True), (asked.waiting, False)):
        if new := [one for one in ids if one not in known]:
            lasts = own["held_for"] if has_begun else own["waiting_for"]
            entry = {**own, "ids": new, "has_begun": has_begun, "lasts": lasts}
            await connection.execute(INSERT_TICKETS, entry)
    return tuple(row.id for row in found if row.has_begun)


def _snapshot(let_in: tuple[str, ...], look: Mapping[Any, Any], limits: Limits) -> TicketSnapshot:
    most = limits.requests_per_minute
    is_full = most is not None and look["begun"] >= most
    has_room = not is_full and look["under_way"] < limits.concurrency
    return TicketSnapshot(
        let_in,
        ProviderLoad(look["under_way"], look["waiting"]),
        others_wait=has_room and look["others"] > 0,
        full_seconds=max(0.0, float(look["next_seconds"] or 0)) if is_full else 0.0,
    )


def _lock_key(gate: str) -> int:
    digest = sha256(f"turns at {gate}".encode()).digest()
    return int.from_bytes(digest[:_LOCK_BYTES], "big", signed=True)


# --- One address as one process sees it: its turns, its waiters, and the clerk that sees to them.

SYNC_TIMEOUT_SECONDS = 5.0  # what a visit may take before calls go on without it
POLL_SECONDS = 0.4  # how often who waits looks, where nobody says that a turn came free
MAX_FULL_WAIT_SECONDS = 2.0  # and at most between two looks while the minute is full
RENEW_SECONDS = 10.0  # how often what is held is renewed, and the others are looked at
OUTAGE_SECONDS = 1.0

SyncTickets = Callable[[Limits, TicketRequest], Awaitable[TicketSnapshot]]


def _ignore(_: bool) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class GateCallbacks:
    """Whom a gate tells: others that there is room for them, and us whether turns are counted."""

    has_room: Callable[[], None] = lambda: None
    counts: Callable[[bool], None] = _ignore


class ProviderGate:
    """Gives turns at one address; `crowd` is what all processes had there when last looked."""

    def __init__(self, visit: SyncTickets, told: GateCallbacks = GateCallbacks()) -> None:
        self.crowd: ProviderLoad | None = None
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
            await asyncio.wait({self._clerk}, timeout=SYNC_TIMEOUT_SECONDS)

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
        asked = TicketRequest(tuple(self._held), tuple(self._waiting))
        visit = asyncio.ensure_future(self._visit(self._limits, asked))
        try:
            await asyncio.wait({visit}, timeout=SYNC_TIMEOUT_SECONDS)
            if not visit.done():
                self._go_without()
            self._note(await asyncio.shield(visit))
        except StoreError:
            self._go_without()
        except asyncio.CancelledError:  # what is begun in the database comes to its end
            await asyncio.wait({visit}, timeout=SYNC_TIMEOUT_SECONDS)
            raise

    def _note(self, seen: TicketSnapshot) -> None:
        self._say(counts=True)
        self.crowd, self._full_seconds = seen.crowd, seen.full_seconds
        for ticket in seen.admit:
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
            await asyncio.sleep(OUTAGE_SECONDS)
            return
        seconds = RENEW_SECONDS
        if self._waiting:
            poll = POLL_SECONDS * random.uniform(0.5, 1.5)  # noqa: S311 - so that looks spread
            seconds = min(self._full_seconds, MAX_FULL_WAIT_SECONDS) or poll
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._bell.wait()


# --- The turnstile of all processes on one Postgres.


class SqlRateLimiter:
    """Counts turns as rows, so that limits hold for all processes together.

    The turns of a process that died come free after half a minute. While the database cannot be
    asked, everybody is let through. `tell` has other processes look at an address at once; `counts`
    hears when turns are counted no more, or again.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        tell: Callable[[str], None] = lambda _: None,
        counts: Callable[[bool], None] = lambda _: None,
        minute_seconds: float = MINUTE_SECONDS,
    ) -> None:
        self._counting = TicketTable(engine, token_hex(8), minute_seconds)
        self._tell = tell
        self._told = counts
        self._counts = True
        self._gates: dict[str, ProviderGate] = {}

    @asynccontextmanager
    async def turn(self, gate: str, limits: Limits) -> AsyncIterator[None]:
        """Wait for a turn at an address, and hold it as long as the block lasts."""
        if gate not in self._gates:
            visit = partial(self._counting.visit, gate)
            told = GateCallbacks(partial(self._tell, gate), self._say)
            self._gates[gate] = ProviderGate(visit, told)
        async with self._gates[gate].turn(limits):
            yield

    def crowd(self, gate: str) -> ProviderLoad | None:
        """Give what all processes had at an address when last looked."""
        return self._gates[gate].crowd if gate in self._gates else None

    def ring(self, gate: str = "") -> None:
        """Have an address looked at where anybody waits, or all of them."""
        for name, found in self._gates.items():
            if gate in {"", name}:
                found.ring()

    async def close(self) -> None:
        """Give everything back, for as long as anybody waits for that."""
        self._told = lambda _: None
        await asyncio.gather(*(gate.close() for gate in self._gates.values()))
        leaving = asyncio.create_task(self._leave())
        await asyncio.wait({leaving}, timeout=SYNC_TIMEOUT_SECONDS)

    async def _leave(self) -> None:
        with suppress(StoreError):  # then it comes free by itself
            await self._counting.leave()

    def _say(self, counts: bool) -> None:
        if counts is not self._counts:
            self._counts = counts
            self._told(counts)
