"""The gateway to real models: calls litellm, tries again where that helps, and names the fault."""

import asyncio
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from types import ModuleType
from typing import Any

from council.answers import Call, Reply
from council.errors import GatewayError, RateLimitError
from council.gateways.litellm import client as library
from council.gateways.litellm import responses as faults
from council.gateways.litellm import responses as replies
from council.gateways.litellm import responses as retries
from council.gateways.litellm.client import SeatSettings
from council.gateways.litellm.responses import CallFault, OnText, RawReply
from council.gateways.throttling.limits import MAX_WAIT_SECONDS, Clock
from council.gateways.throttling.provider import NOT_SHARED, ProviderCall, SharedLimits, Throttling
from council.money import Price
from council.panel import Member
from council.providers import Health, Limits, ProviderHint


@cache
def _version() -> str:
    """Give the version that is installed; its file is read once."""
    return version("litellm")


class LitellmGateway:
    """The way to models through litellm; seats are settled by their member's key.

    `limits` are named by provider, or by the host and port of a server of one's own; they hold for
    all processes where a turnstile is shared with `neighbours`.
    """

    def __init__(
        self,
        seats: Mapping[str, SeatSettings],
        limits: Mapping[str, Limits] | None = None,
        *,
        clock: Clock | None = None,
        neighbours: SharedLimits = NOT_SHARED,
    ) -> None:
        self._seats = dict(seats)
        self._clock = clock or Clock()
        self._traffic = Throttling(limits or {}, self._clock, neighbours)
        self._lines = {
            key: self._traffic.queue(seat.address, seat.model) for key, seat in self._seats.items()
        }
        self._library: ModuleType | None = None

    @property
    def versions(self) -> dict[str, str]:
        """The installed litellm, read without importing it."""
        return {"litellm": _version()}

    def health(self) -> Health:
        """Give how its providers and models fare."""
        return self._traffic.health()

    def heed(self, hint: ProviderHint) -> None:
        """Take note of what another process has learnt of a model."""
        self._traffic.heed(hint)

    async def warm(self) -> None:
        """Import litellm and pay for its first call beforehand, in a thread, without a network."""
        models = [seat.model for seat in self._seats.values()]
        self._library = await asyncio.to_thread(library.load_warm, models)

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

        Cancelled while it waits for its turn or to try again, it notes why on the CancelledError.
        """
        seat = self._seats.get(call.member.key)
        if seat is None:
            raise GatewayError("could not be asked: nothing is set for its seat")
        if self._library is None:
            self._library = await asyncio.to_thread(library.load)
        sent = replies.request_arguments(self._library, seat, call)
        with self._lines[call.member.key].call() as asking:
            while True:
                async with asking.turn():
                    outcome = await _attempt(self._library, seat, sent, call.on_text)
                if isinstance(outcome, RawReply):
                    asking.settle(failed=False)
                    return replies.build_reply(outcome, seat, asking.attempts, asking.seconds)
                await self._recover(outcome, asking, sent)

    async def _recover(self, fault: CallFault, asking: ProviderCall, sent: dict[str, Any]) -> None:
        """Make ready for another attempt, or raise the fault's error when none would help."""
        wait, has_more = fault.retry_after_seconds, asking.attempts < retries.MAX_ATTEMPTS
        if has_more and fault.refused:
            del sent[fault.refused]
            return
        if wait is None:
            wait = retries.backoff_seconds(asking.attempts, self._clock.jitter)
        elif isinstance(fault.error, RateLimitError):
            asking.hold_off(wait)
        if not (has_more and fault.is_transient and wait <= MAX_WAIT_SECONDS):
            asking.settle(failed=fault.is_outage)
            raise fault.error
        try:
            await asking.wait(wait, str(fault.error))
        except asyncio.CancelledError:
            asking.settle(failed=fault.is_outage)
            raise
        if asking.is_blocked:
            raise fault.error


async def _attempt(
    litellm: ModuleType, seat: SeatSettings, sent: dict[str, Any], on_text: OnText | None
) -> RawReply | CallFault:
    # litellm's error is left behind here: it may quote the key, and a traceback would print it.
    try:
        return await replies.send_request(litellm, sent, on_text)
    # It also raises plain Exception and ValueError: whatever it is, this model said nothing.
    except Exception as error:  # noqa: BLE001
        return faults.classify_error(error, seat, sent)
