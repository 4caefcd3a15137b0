"""A test harness for the litellm gateway: one seat on a scripted model server."""

import time
from dataclasses import replace

import pytest

from council.answers import Call, Prompt, Reply
from council.errors import GatewayError
from council.gateways.litellm.client import SeatSettings
from council.gateways.litellm.gateway import LitellmGateway
from council.gateways.throttling.rate_limiter import Clock
from council.panel import Member, ModelId
from tests.wire.models import Behaviour, ModelServer

KEY = "sk-secret-0123456789"
MEMBER = Member("seat", ModelId("openai/mine"), "Mine", "test")
CALL = Call(MEMBER, Prompt("Be brief.", "Why is it slow?"))


class RecordedSleeps(list[float]):
    """The durations of the gateway's sleeps, which return at once."""

    async def sleep(self, seconds: float) -> None:
        self.append(seconds)

    @property
    def clock(self) -> Clock:
        return Clock(lambda: time.monotonic() + sum(self), self.sleep, lambda: 1.0)


class GatewayHarness:
    """One seat on a scripted model server, and a gateway to it."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.waits = RecordedSleeps()
        self.sit()

    def sit(self, **changes: object) -> None:
        """Create the seat and the gateway again, with changed settings."""
        plain = SeatSettings("openai/mine", api_base=self.server.api_base, api_key=KEY)
        # The tests below name real fields with values of their types.
        self.seat = replace(plain, **changes)  # type: ignore[arg-type]
        self.gateway = LitellmGateway({"seat": self.seat}, clock=self.waits.clock)

    async def says(self, behaviour: Behaviour, call: Call = CALL) -> Reply:
        self.server.script["mine"] = behaviour
        return await self.gateway.complete(call)

    async def fault(self, behaviour: Behaviour, call: Call = CALL) -> GatewayError:
        with pytest.raises(GatewayError) as failed:
            await self.says(behaviour, call)
        assert KEY not in repr(failed.value) + repr(failed.value.__context__)
        return failed.value

    @property
    def requests(self) -> int:
        return len(self.server.requests)
