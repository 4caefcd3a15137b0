"""The door that questions come in by: one at a time under each name, in this process."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bot.ports import NamedLocks


class LocalLocks:
    """Keeps questions of this process from each other.

    Where other processes let questions in as well, `beyond` is the door that they share: it is
    waited for by one of ours a name, and it alone knows who is inside.
    """

    def __init__(self, beyond: NamedLocks | None = None) -> None:
        self._beyond = beyond
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._inside: dict[str, str] = {}

    @asynccontextmanager
    async def lock(self, *names: str) -> AsyncIterator[None]:
        """Keep others from these names as long as the block lasts."""
        async with AsyncExitStack() as held:
            for name in sorted(set(names)):  # in one order, so that no two wait for each other
                await held.enter_async_context(self._turns[name])
            if self._beyond and names:
                await held.enter_async_context(self._beyond.lock(*names))
            yield

    async def admit(self, name: str, round_id: str) -> None:
        """Count a round under a name until it is seen out."""
        if self._beyond:
            await self._beyond.admit(name, round_id)
        else:
            self._inside[round_id] = name

    async def admitted(self, name: str) -> frozenset[str]:
        """Give the rounds that count under a name."""
        if self._beyond:
            return await self._beyond.admitted(name)
        return frozenset(id_ for id_, under in self._inside.items() if under == name)

    def dismiss(self, round_id: str) -> None:
        """Count a round no more."""
        self._inside.pop(round_id, None)
