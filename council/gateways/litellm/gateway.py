"""The gateway to real models: calls litellm, tries again where that helps, and names the fault."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from types import ModuleType
from typing import Any

from council.calls import Call, Reply
from council.errors import GatewayError
from council.gateways.litellm import faults, library, replies, retries
from council.gateways.litellm.faults import Fault
from council.gateways.litellm.replies import OnText, Spoken
from council.gateways.litellm.seats import SeatSettings
from council.panel import Member
from council.prices import Price

Sleep = Callable[[float], Awaitable[object]]


class LitellmGateway:
    """The way to models through litellm; seats are settled by their member's key."""

    def __init__(
        self,
        seats: Mapping[str, SeatSettings],
        *,
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._seats = dict(seats)
        self._sleep = sleep
        self._jitter = jitter
        self._library: ModuleType | None = None

    @property
    def versions(self) -> dict[str, str]:
        """The installed litellm, read without importing it."""
        return {"litellm": version("litellm")}

    async def warm(self) -> None:
        """Import litellm and pay for its first call beforehand, in a thread, without a network."""
        self._library = await asyncio.to_thread(library.load_warm)

    async def close(self) -> None:
        """Close litellm's connections, which all its gateways share; it may be used again."""
        if self._library:
            await library.close(self._library)

    def context_tokens(self, member_key: str) -> int | None:
        """Give the seat's own figure, else litellm's once that is loaded; None if unknown."""
        seat = self._seats.get(member_key)
        if seat is None:
            return None
        if seat.context_tokens or seat.is_ours or self._library is None:
            return seat.context_tokens
        return library.context_tokens(self._library, seat)

    async def price(self, seat: Member) -> Price | None:
        """Give the seat's own price, else litellm's, which is loaded for that; None if unknown."""
        settings = self._seats.get(seat.key)
        if settings is None:
            return None
        own = settings.own_price
        if own or settings.is_ours:
            return own
        if self._library is None:
            await self.warm()
        return library.price(self._library, settings) if self._library else None

    async def complete(self, call: Call) -> Reply:
        """Give the model's reply; raise GatewayError, a predicate of the member, if none came.

        Cancelled while it waits to try again, it notes why on the CancelledError.
        """
        seat = self._seats.get(call.member.key)
        if seat is None:
            raise GatewayError("could not be asked: nothing is set for its seat")
        if self._library is None:
            self._library = await asyncio.to_thread(library.load)
        started, attempt = time.monotonic(), 0
        sent = replies.arguments(self._library, seat, call)
        while True:
            attempt += 1
            outcome = await _try(self._library, seat, sent, call.on_text)
            if isinstance(outcome, Spoken):
                return replies.reply(outcome, seat, attempt, time.monotonic() - started)
            await self._recover(outcome, attempt, sent)

    async def _recover(self, fault: Fault, attempt: int, sent: dict[str, Any]) -> None:
        """Make ready for another attempt, or raise the fault's error when none would help."""
        if attempt == retries.MOST_ATTEMPTS:
            raise fault.error
        if fault.refused:
            del sent[fault.refused]
            return
        wait = fault.retry_after_seconds
        if wait is None:
            wait = retries.backoff_seconds(attempt, self._jitter)
        if not fault.passing or wait > retries.LONGEST_WAIT_SECONDS:
            raise fault.error
        try:
            await self._sleep(wait)
        except asyncio.CancelledError as stopped:
            stopped.add_note(f"{fault.error} until the time was up")
            raise


async def _try(
    litellm: ModuleType, seat: SeatSettings, sent: dict[str, Any], on_text: OnText | None
) -> Spoken | Fault:
    # litellm's error is left behind here: it may quote the key, and a traceback would print it.
    try:
        return await replies.attempt(litellm, sent, on_text)
    # It also raises plain Exception and ValueError: whatever it is, this model said nothing.
    except Exception as error:  # noqa: BLE001
        return faults.read(error, seat, sent)
