"""Acts that come together are done together: one transaction, and one write to the disk.

Knows nothing of what they do.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from storage.losing import LostError

Act = TypeVar("Act")


class Gathering(Generic[Act]):
    """Does acts in the order they come; those that came while others were done share a turn.

    `do` does all it is given or nothing. Where it fails for several, each is done alone, so that
    none fails for another's fault; but for what a server lost, which is the same for all.
    """

    def __init__(self, do: Callable[[Sequence[Act]], Awaitable[None]]) -> None:
        self._do = do
        self._waiting: list[tuple[Act, asyncio.Future[None]]] = []
        self._turns = asyncio.Lock()

    async def done(self, act: Act) -> None:
        """Return once the act is done; raise what it failed with."""
        ended = asyncio.get_running_loop().create_future()
        self._waiting.append((act, ended))
        async with self._turns:
            if not ended.done():
                waiting, self._waiting = self._waiting, []
                await self._all(waiting)
        await ended

    async def _all(self, waiting: Sequence[tuple[Act, "asyncio.Future[None]"]]) -> None:
        acts = [act for act, _ in waiting]
        (error,) = await asyncio.gather(self._do(acts), return_exceptions=True)
        # What the server lost is lost for all of them, and nobody's own fault.
        if error and len(waiting) > 1 and not isinstance(error, LostError):
            for one in waiting:
                await self._all([one])
            return
        for _, ended in waiting:
            if error:
                ended.set_exception(error)
            else:
                ended.set_result(None)
