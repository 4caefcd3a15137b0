"""A tap on a gateway: once it is closed no new call begins, and those under way come to an end."""

import asyncio
from contextlib import suppress

from council.calls import Call, Reply
from council.panel import Member
from council.ports import Gateway
from council.prices import Price

_SAVING_SECONDS = 0.05  # what a reply takes from here to the store


class Tap:
    """A gateway that can be closed without losing a reply that is being paid for."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._under_way = 0
        self._idle = asyncio.Event()
        self._closed = False

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
        """Give the reply; once the tap is closed, wait to be cancelled."""
        if self._closed:
            await asyncio.Event().wait()
        self._under_way += 1
        self._idle.clear()
        try:
            return await self._gateway.complete(call)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def close(self, grace_seconds: float) -> None:
        """Let no call begin, and wait for those under way, so long at most."""
        self._closed = True
        if self._under_way:
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_seconds):
                    await self._idle.wait()
        await asyncio.sleep(_SAVING_SECONDS)
