"""The shared rate limiter: tickets in Postgres, so that limits hold for all processes together."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from secrets import token_hex

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError
from council.providers import Limits, ProviderLoad
from storage.transactions import lock_key, retried_and_shielded, retry_seconds, transaction

# A process that does not renew its running tickets for this long is taken for dead.
HELD_SECONDS = 30.0
# A waiting ticket that is not renewed is skipped much sooner, but keeps its place.
WAITING_SECONDS = 6.0
# Half a second over a minute, because the latency to a provider varies.
MINUTE_SECONDS = 60.5
SYNC_TIMEOUT_SECONDS = 5.0  # after that, calls go out without a ticket
POLL_SECONDS = 0.4  # between two syncs of a waiting ticket
MAX_FULL_WAIT_SECONDS = 2.0  # between two syncs while the requests of the minute are used up
RENEW_SECONDS = 10.0  # between two syncs of running tickets
OUTAGE_SECONDS = 1.0  # between two syncs while the database cannot be reached
_ANY_NUMBER = 2**31


class SqlRateLimiter:
    """The rate limiter that all processes on one Postgres share.

    While the database cannot be reached, every call is admitted at once. `on_room` is called with
    an address at which other processes should sync at once; `on_counting` with whether tickets are
    counted, when that changes. Requests are counted over `minute_seconds`.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        on_room: Callable[[str], None] = lambda _: None,
        on_counting: Callable[[bool], None] = lambda _: None,
        minute_seconds: float = MINUTE_SECONDS,
    ) -> None:
        self._engine = engine
        self._holder = token_hex(8)
        self._minute = timedelta(seconds=minute_seconds)
        self._on_room = on_room
        self._on_counting = on_counting
        self._is_counting = True
        self._gates: dict[str, ProviderGate] = {}

    @asynccontextmanager
    async def slot(self, gate: str, limits: Limits) -> AsyncIterator[None]:
        """Wait for a ticket at an address, and hold it as long as the block runs."""
        if gate not in self._gates:
            sync, on_room = partial(self._sync, gate), partial(self._on_room, gate)
            self._gates[gate] = ProviderGate(sync, on_room, self._set_counting)
        async with self._gates[gate].slot(limits):
            yield

    def provider_load(self, gate: str) -> ProviderLoad | None:
        """Return the load of all processes at an address at the last sync; None without one."""
        return self._gates[gate].load if gate in self._gates else None

    def wake(self, gate: str = "") -> None:
        """Sync an address, or all of them, at once if calls are waiting there."""
        for name, provider_gate in self._gates.items():
            if gate in {"", name}:
                provider_gate.wake()

    async def close(self) -> None:
        """Release all tickets, but do not wait long for the database."""
        self._on_counting = lambda _: None
        await asyncio.gather(*(gate.close() for gate in self._gates.values()))
        release = asyncio.create_task(self._release_all())
        await asyncio.wait({release}, timeout=SYNC_TIMEOUT_SECONDS)

    async def _release_all(self) -> None:
        with suppress(StoreError):  # then the tickets expire
            async with transaction(self._engine) as connection:
                await connection.execute(RELEASE_ALL, {"holder": self._holder})

    def _set_counting(self, is_counting: bool) -> None:
        if is_counting is not self._is_counting:
            self._is_counting = is_counting
            self._on_counting(is_counting)

    @retried_and_shielded
    async def _sync(
        self, gate: str, limits: Limits, held: list[str], waiting: list[str]
    ) -> "TicketSnapshot":
        """Store our tickets at an address, release those not named, and admit those in turn."""
        most = limits.requests_per_minute
        values = {
            "gate": gate,
            "holder": self._holder,
            "held": held,
            "waiting": waiting,
            "window": timedelta() if most is None else self._minute,
            "most": _ANY_NUMBER if most is None else most,
            "concurrency": limits.concurrency,
            "held_for": timedelta(seconds=HELD_SECONDS),
            "waiting_for": timedelta(seconds=WAITING_SECONDS),
        }
        async with transaction(self._engine) as connection:
            await connection.execute(LOCK_GATE, {"lock": lock_key(f"turns at {gate}")})
            # A waiting ticket is running if it was admitted by a sync whose answer was lost.
            rows = (await connection.execute(RENEW_TICKETS, values)).all()
            known = {row.id for row in rows}
            for ids, lasts in ((held, "held_for"), (waiting, "waiting_for")):
                if new := [ticket for ticket in ids if ticket not in known]:
                    entry = {"ids": new, "has_begun": ids is held, "lasts": values[lasts]}
                    await connection.execute(INSERT_TICKETS, values | entry)
            await connection.execute(DELETE_EXPIRED, values)
            admitted = {*(await connection.execute(ADMIT_FIRST, values)).scalars()}
            counts = (await connection.execute(COUNT_TICKETS, values)).mappings().one()
        admitted |= {row.id for row in rows if row.has_begun}
        is_full = most is not None and counts["begun"] >= most
        has_room = not is_full and counts["under_way"] < limits.concurrency
        return TicketSnapshot(
            [ticket for ticket in waiting if ticket in admitted],
            ProviderLoad(counts["under_way"], counts["waiting"]),
            others_wait=has_room and counts["others"] > 0,
            full_seconds=max(0.0, float(counts["next_seconds"] or 0)) if is_full else 0.0,
        )


# --- The queue of one process at one address


@dataclass(frozen=True, slots=True)
class TicketSnapshot:
    """The outcome of a sync: the admitted tickets, and the load of all processes.

    `others_wait` says that a waiting ticket of another process could be admitted now;
    `full_seconds` is how long the requests of the minute stay used up, 0 if they are not.
    """

    admit: Sequence[str]
    load: ProviderLoad
    others_wait: bool
    full_seconds: float


class ProviderGate:
    """The calls of this process to one address; `load` is that of all processes."""

    def __init__(
        self,
        sync: Callable[[Limits, list[str], list[str]], Awaitable[TicketSnapshot]],
        on_room: Callable[[], None],
        on_counting: Callable[[bool], None],
    ) -> None:
        self.load: ProviderLoad | None = None
        self._sync_tickets = sync
        self._on_room = on_room
        self._on_counting = on_counting
        self._limits = Limits()
        self._held: dict[str, None] = {}
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._wake_event = asyncio.Event()
        self._is_counting = True
        self._full_seconds = 0.0
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def slot(self, limits: Limits) -> AsyncIterator[None]:
        """Wait for a ticket and hold it as long as the block runs."""
        ticket = token_hex(8)
        try:
            await self._wait_for(ticket, limits)
            yield
        finally:
            self._held.pop(ticket, None)
            self._waiting.pop(ticket, None)
            self._wake_event.set()

    def wake(self) -> None:
        """Sync at once if any call is waiting."""
        if self._waiting:
            self._wake_event.set()

    async def close(self) -> None:
        """Stop syncing, and admit every waiting call."""
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=SYNC_TIMEOUT_SECONDS)

    async def _wait_for(self, ticket: str, limits: Limits) -> None:
        self._limits = limits
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        if not self._is_counting:
            self._held[ticket] = None
            return
        self._waiting[ticket] = asyncio.get_running_loop().create_future()
        self._wake_event.set()
        await self._waiting[ticket]

    async def _run(self) -> None:
        retry_seconds.set(0.0)  # of this task: without the database, calls go out at once
        try:
            while True:
                self._wake_event.clear()
                await self._sync()
                await self._pause()
        finally:
            self._admit_all()

    async def _sync(self) -> None:
        tickets = self._sync_tickets(self._limits, [*self._held], [*self._waiting])
        sync = asyncio.ensure_future(tickets)
        try:
            await asyncio.wait({sync}, timeout=SYNC_TIMEOUT_SECONDS)
            if not sync.done():
                self._admit_all()
            self._apply(await asyncio.shield(sync))
        except StoreError:
            self._admit_all()
        except asyncio.CancelledError:  # let the transaction end
            await asyncio.wait({sync}, timeout=SYNC_TIMEOUT_SECONDS)
            raise

    def _apply(self, snapshot: TicketSnapshot) -> None:
        self._set_counting(is_counting=True)
        self.load, self._full_seconds = snapshot.load, snapshot.full_seconds
        for ticket in snapshot.admit:
            if ticket in self._waiting:
                self._admit(ticket)
            elif ticket not in self._held:  # its caller has left: release the ticket at once
                self._wake_event.set()
        if snapshot.others_wait:
            self._on_room()

    def _admit_all(self) -> None:
        """Admit every waiting call; the database learns of them when it can be reached again."""
        self._set_counting(is_counting=False)
        self.load = None
        for ticket in [*self._waiting]:
            self._admit(ticket)

    def _admit(self, ticket: str) -> None:
        admitted = self._waiting.pop(ticket)
        if not admitted.done():
            self._held[ticket] = None
            admitted.set_result(None)

    def _set_counting(self, *, is_counting: bool) -> None:
        if is_counting is not self._is_counting:
            self._is_counting = is_counting
            self._on_counting(is_counting)

    async def _pause(self) -> None:
        """Wait for a reason to sync again."""
        if not self._is_counting:
            await asyncio.sleep(OUTAGE_SECONDS)
            return
        seconds = RENEW_SECONDS
        if self._waiting:
            poll = POLL_SECONDS * random.uniform(0.5, 1.5)  # noqa: S311 - only spreads the syncs
            seconds = min(self._full_seconds, MAX_FULL_WAIT_SECONDS) or poll
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake_event.wait()


# --- SQL for Postgres; all times are the database's

# One sync at a time per address; tickets need not survive a crash of the server.
LOCK_GATE = text(
    "SELECT set_config('synchronous_commit', 'off', true), "
    "pg_advisory_xact_lock(CAST(:lock AS bigint))"
)

# A ticket of ours that is not named any more was released, or its caller left.
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

# A waiting ticket of another process keeps its place for a while after it has expired.
DELETE_EXPIRED = text(
    """
    DELETE FROM turn WHERE gate = :gate AND until <= statement_timestamp() AND CASE
      WHEN begun_at IS NOT NULL THEN begun_at <= statement_timestamp() - CAST(:window AS interval)
      ELSE holder = :holder OR until <= statement_timestamp() - CAST(:held_for AS interval) END
    """
)

# Each process admits its own tickets among those that are first in the queue of all.
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
