"""A tap on a gateway: once it is closed no new call begins, and those under way come to an end."""

import asyncio
from contextlib import suppress

from council.answers import Call, Reply
from council.budget import Behind
from council.ports import Gateway

_SAVING_SECONDS = 0.05  # what a reply takes from here to the store


class Tap(Behind):
    """A gateway that can be closed without losing a reply that is being paid for."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._under_way = 0
        self._idle = asyncio.Event()
        self._closed = False

    async def complete(self, call: Call) -> Reply:
        """Give the reply; once the tap is closed, wait to be cancelled."""
        if self._closed:
            await asyncio.Event().wait()
        self._under_way += 1
        self._idle.clear()
        try:
            return await self.gateway.complete(call)
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
