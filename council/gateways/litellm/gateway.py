"""The gateway to models through litellm: throttling, retries and error messages."""

import asyncio
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from types import ModuleType
from typing import Any

from council.answers import Call, Reply
from council.errors import GatewayError, RateLimitError
from council.gateways.litellm import client, responses, retry
from council.gateways.litellm.client import SeatSettings
from council.gateways.litellm.responses import OnText, RawReply
from council.gateways.litellm.retry import CallFault
from council.gateways.throttling.provider import ProviderCall, ProviderQueue, Publish, Throttling
from council.gateways.throttling.rate_limiter import MAX_WAIT_SECONDS, Clock
from council.money import Price
from council.panel import Member
from council.ports import SharedRateLimiter
from council.providers import Health, Limits, ProviderHint

_version = cache(version)


class LitellmGateway:
    """The gateway to models through litellm; `seats` are by the member's key.

    `limits` are by provider, or by host and port; they hold for all processes together if these
    share a rate limiter.
    """

    def __init__(
        self,
        seats: Mapping[str, SeatSettings],
        limits: Mapping[str, Limits] | None = None,
        *,
        clock: Clock | None = None,
        shared: SharedRateLimiter | None = None,
        publish: Publish = lambda _hint: None,
    ) -> None:
        self._seats: dict[str, SeatSettings] = {}
        self._queues: dict[str, ProviderQueue] = {}
        self._clock = clock or Clock()
        self._throttling = Throttling(limits or {}, self._clock, shared, publish)
        self._library: ModuleType | None = None
        self.add_seats(seats)

    def add_seats(self, seats: Mapping[str, SeatSettings]) -> None:
        """Add seats, or replace their settings; running calls keep those they began with."""
        self._seats |= seats
        self._queues |= {
            key: self._throttling.queue(seat.address, seat.model) for key, seat in seats.items()
        }

    @property
    def versions(self) -> dict[str, str]:
        """The installed version of litellm, read without importing it."""
        return {"litellm": _version("litellm")}

    def health(self) -> Health:
        """Return the current state of its providers and models."""
        return self._throttling.health()

    def apply_hint(self, hint: ProviderHint) -> None:
        """Apply a pause or an outage that another process has observed."""
        self._throttling.apply_hint(hint)

    async def warm(self) -> ModuleType:
        """Import litellm in a thread and make its slow first calls, offline; return it."""
        if self._library is None:
            models = [seat.model for seat in self._seats.values()]
            self._library = await asyncio.to_thread(client.load_warm, models)
        return self._library

    async def close(self) -> None:
        """Close litellm's connections, which all gateways share; it can be used again."""
        if self._library:
            await client.close(self._library)

    def context_tokens(self, member_key: str) -> int | None:
        """Return the seat's own context size, else litellm's if loaded; None if unknown."""
        seat = self._seats.get(member_key)
        if seat is None:
            return None
        if seat.context_tokens or seat.is_private or self._library is None:
            return seat.context_tokens
        return client.context_tokens(self._library, seat)

    async def price(self, seat: Member) -> Price | None:
        """Return the seat's own price, else litellm's, which it may load; None if unknown."""
        settings = self._seats.get(seat.key)
        if settings is None:
            return None
        own = settings.own_price
        if own or settings.is_private:
            return own
        return client.price(await self.warm(), settings)

    async def sees_images(self, seat: Member) -> bool:
        """Return whether the seat's model takes images, by its settings or litellm's knowledge."""
        settings = self._seats.get(seat.key)
        if settings is None or settings.vision is not None:
            return bool(settings and settings.vision)
        return bool((await self.warm()).supports_vision(model=settings.model))

    async def complete(self, call: Call) -> Reply:
        """Return the reply; raise GatewayError. A cancelled wait gets a note with the reason."""
        seat = self._seats.get(call.member.key)
        if seat is None:
            raise GatewayError("could not be asked: its model is not set up")
        library = await self.warm()
        if seat.web_search and not seat.api_base and not client.searches(library, seat):
            raise GatewayError(
                "could not be asked: its provider has no web search for it, so remove web_search "
                "from its section in council.toml"
            )
        sent = responses.request_arguments(library, seat, call)
        with self._queues[call.member.key].call(call.deadline) as provider_call:
            while True:
                async with provider_call.turn():
                    outcome = await _attempt(library, seat, sent, call.on_text)
                if isinstance(outcome, RawReply):
                    provider_call.settle(failed=False)
                    return responses.build_reply(
                        outcome, seat, provider_call.attempts, provider_call.seconds
                    )
                await self._recover(outcome, provider_call, sent)

    async def _recover(
        self, fault: CallFault, provider_call: ProviderCall, sent: dict[str, Any]
    ) -> None:
        """Prepare another attempt, or raise the error of the fault if none would help."""
        wait, has_more = fault.retry_after_seconds, provider_call.attempts < retry.MAX_ATTEMPTS
        if has_more and fault.refused_argument:
            del sent[fault.refused_argument]
            if fault.refused_argument == "logprobs":
                sent.pop("top_logprobs", None)
            return
        if wait is None:
            wait = retry.backoff_seconds(provider_call.attempts, self._clock.jitter)
        elif isinstance(fault.error, RateLimitError):
            provider_call.hold_off(wait)
        if not (has_more and fault.is_transient and wait <= MAX_WAIT_SECONDS):
            provider_call.settle(failed=fault.is_outage)
            raise fault.error
        try:
            await provider_call.wait(wait, str(fault.error))
        except asyncio.CancelledError:
            provider_call.settle(failed=fault.is_outage)
            raise
        if provider_call.is_blocked:
            raise fault.error


async def _attempt(
    litellm: ModuleType, seat: SeatSettings, sent: dict[str, Any], on_text: OnText | None
) -> RawReply | CallFault:
    # litellm's error is not chained: it may quote the key, and a traceback would print it.
    try:
        return await responses.send_request(litellm, sent, on_text)
    # litellm also raises plain Exception and ValueError; in any case there is no reply.
    except Exception as error:  # noqa: BLE001
        return retry.classify_error(error, seat, sent)
