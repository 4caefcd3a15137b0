"""A gateway that is open only as long as a round is this process' own to carry."""

import asyncio
from collections.abc import Callable
from typing import Any

from council.answers import Call, Reply
from council.budget import Behind
from council.ports import Gateway


class Fenced(Behind):
    """Makes calls as long as `may` says so; after that nothing more is spent through it."""

    def __init__(self, gateway: Gateway, may: Callable[[], bool]) -> None:
        self.gateway = gateway
        self._may = may
        self._under_way: set[asyncio.Task[Any]] = set()

    async def complete(self, call: Call) -> Reply:
        """Give the reply; where the round is not ours any more, wait to be cancelled."""
        task = asyncio.current_task()
        if task is None or not self._may():
            await asyncio.Event().wait()
            raise asyncio.CancelledError
        self._under_way.add(task)
        try:
            return await self.gateway.complete(call)
        finally:
            self._under_way.discard(task)

    def cut(self) -> None:
        """Cancel every call under way, as one that still waits for its turn."""
        for task in [*self._under_way]:
            task.cancel()
