"""Named locks of one process, on top of those of the cluster where there is one."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bot.ports import NamedLocks


class LocalLocks:
    """Named asyncio locks, and the rounds admitted under each name.

    With `shared`, the locks of the cluster, at most one task of this process waits for a shared
    lock, and the shared locks count the admitted rounds.
    """

    def __init__(self, shared: NamedLocks | None = None) -> None:
        self._shared = shared
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._admitted: dict[str, str] = {}

    @asynccontextmanager
    async def lock(self, *names: str) -> AsyncIterator[None]:
        """Hold the named locks for the duration of the block."""
        async with AsyncExitStack() as stack:
            for name in sorted(set(names)):  # always in the same order, so no two tasks deadlock
                await stack.enter_async_context(self._locks[name])
            if self._shared and names:
                await stack.enter_async_context(self._shared.lock(*names))
            yield

    async def admit(self, name: str, round_id: str) -> None:
        """Count a round under a name until it is dismissed."""
        if self._shared:
            await self._shared.admit(name, round_id)
        else:
            self._admitted[round_id] = name

    async def admitted(self, name: str) -> frozenset[str]:
        """Return the ids of the rounds that count under a name."""
        if self._shared:
            return await self._shared.admitted(name)
        return frozenset(id_ for id_, under in self._admitted.items() if under == name)

    def dismiss(self, round_id: str) -> None:
        """Stop counting a round."""
        self._admitted.pop(round_id, None)
