"""Turns counted in the database, one visit after another at each address."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from council.providers import Crowd, Limits
from storage.acts import transaction
from storage.finishing import finished, patience
from storage.turns import statements

# A process that does not renew what it holds for so long is taken for dead.
HELD_SECONDS = 30.0
# Who waits and is not heard of is passed over by others much sooner, and keeps its place.
WAITING_SECONDS = 6.0
# Half a second more than a minute: calls take some time to a provider, and not always the same.
MINUTE_SECONDS = 60.5
_ANY_NUMBER = 2**31
_LOCK_BYTES = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """A process' tickets at one address: those that hold a turn, and those that wait, in order."""

    held: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """What a visit came to: who was let in, and how it stands.

    `others_wait` says that somebody of another process could have a turn now; `full_seconds` how
    long the minute is full, 0 where it is not.
    """

    let_in: tuple[str, ...]
    crowd: Crowd
    others_wait: bool = False
    full_seconds: float = 0.0


class Counting:
    """Tickets as rows; `minute_seconds` is the time over which beginnings are counted."""

    def __init__(
        self, engine: AsyncEngine, holder: str, minute_seconds: float = MINUTE_SECONDS
    ) -> None:
        self._engine = engine
        self._holder = holder
        self._minute = timedelta(seconds=minute_seconds)

    async def visit(self, gate: str, limits: Limits, asked: Asked) -> Seen:
        """Note what we have at an address, and let in whose turn it is; raises StoreError.

        What we had there and do not name any more is given back.
        """
        patience.set(0.0)  # nobody waits for a second try
        return await self._visit(gate, limits, asked)

    async def leave(self) -> None:
        """Give back all that this process has, everywhere."""
        patience.set(0.0)
        await self._leave()

    @finished
    async def _visit(self, gate: str, limits: Limits, asked: Asked) -> Seen:
        own = {"gate": gate, "holder": self._holder, **self._bounds(limits)}
        async with transaction(self._engine) as connection:
            await connection.execute(statements.ALONE, {"lock": _lock(gate)})
            begun = await _entered(connection, asked, own)
            await connection.execute(statements.CLEAR, own)
            found = await connection.execute(statements.ADMIT, own)
            let_in = {*found.scalars(), *begun}
            look = (await connection.execute(statements.LOOK, own)).mappings().one()
        return _seen(tuple(one for one in asked.waiting if one in let_in), look, limits)

    @finished
    async def _leave(self) -> None:
        async with transaction(self._engine) as connection:
            await connection.execute(statements.LEAVE, {"holder": self._holder})

    def _bounds(self, limits: Limits) -> dict[str, Any]:
        paced = limits.requests_per_minute is not None
        return {
            "window": self._minute if paced else timedelta(),
            "most": limits.requests_per_minute if paced else _ANY_NUMBER,
            "concurrency": limits.concurrency,
            "held_for": timedelta(seconds=HELD_SECONDS),
            "waiting_for": timedelta(seconds=WAITING_SECONDS),
        }


async def _entered(
    connection: AsyncConnection, asked: Asked, own: dict[str, Any]
) -> tuple[str, ...]:
    """Have a row for each ticket; give those that wait here and hold a turn there.

    That is one whose turn was noted by a visit of which nobody heard the end.
    """
    tickets = {"held": [*asked.held], "waiting": [*asked.waiting]}
    found = (await connection.execute(statements.RENEW, {**own, **tickets})).all()
    known = {row.id for row in found}
    for ids, has_begun in ((asked.held, True), (asked.waiting, False)):
        if new := [one for one in ids if one not in known]:
            lasts = own["held_for"] if has_begun else own["waiting_for"]
            entry = {**own, "ids": new, "has_begun": has_begun, "lasts": lasts}
            await connection.execute(statements.ENTER, entry)
    return tuple(row.id for row in found if row.has_begun)


def _seen(let_in: tuple[str, ...], look: Mapping[Any, Any], limits: Limits) -> Seen:
    most = limits.requests_per_minute
    is_full = most is not None and look["begun"] >= most
    has_room = not is_full and look["under_way"] < limits.concurrency
    return Seen(
        let_in,
        Crowd(look["under_way"], look["waiting"]),
        others_wait=has_room and look["others"] > 0,
        full_seconds=max(0.0, float(look["next_seconds"] or 0)) if is_full else 0.0,
    )


def _lock(gate: str) -> int:
    digest = sha256(f"turns at {gate}".encode()).digest()
    return int.from_bytes(digest[:_LOCK_BYTES], "big", signed=True)
