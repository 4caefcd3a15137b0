"""A gateway that is open only as long as a round is this process' own to carry."""

import asyncio
from collections.abc import Callable
from typing import Any

from council.calls import Call, Reply
from council.panel import Member
from council.ports import Gateway
from council.prices import Price


class Fenced:
    """Makes calls as long as `may` says so; after that nothing more is spent through it."""

    def __init__(self, gateway: Gateway, may: Callable[[], bool]) -> None:
        self._gateway = gateway
        self._may = may
        self._under_way: set[asyncio.Task[Any]] = set()

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the gateway behind it."""
        return self._gateway.versions

    def context_tokens(self, member_key: str) -> int | None:
        """Give what the gateway behind it says."""
        return self._gateway.context_tokens(member_key)

    async def price(self, seat: Member) -> Price | None:
        """Give what the gateway behind it says."""
        return await self._gateway.price(seat)

    async def complete(self, call: Call) -> Reply:
        """Give the reply; where the round is not ours any more, wait to be cancelled."""
        task = asyncio.current_task()
        if task is None or not self._may():
            await asyncio.Event().wait()
            raise asyncio.CancelledError
        self._under_way.add(task)
        try:
            return await self._gateway.complete(call)
        finally:
            self._under_way.discard(task)

    def cut(self) -> None:
        """Cancel every call under way, as one that still waits for its turn."""
        for task in [*self._under_way]:
            task.cancel()
