"""A closed tap begins no call, and loses none that is under way."""

import asyncio

from bot.runners.local import DrainableGateway
from council.answers import Call, Prompt, Reply
from council.money import FREE, Price
from council.panel import Member
from tests.builders import a_panel

CALL = Call(a_panel(3).members[0], Prompt("", "Why?"))


class SlowGateway:
    """Replies when it is told to."""

    def __init__(self) -> None:
        self.may_reply = asyncio.Event()
        self.calls = 0
        self.versions = {"slow": "1"}

    async def complete(self, call: Call) -> Reply:
        self.calls += 1
        await self.may_reply.wait()
        return Reply("Because.")

    def context_tokens(self, member_key: str) -> int | None:
        return 8

    async def price(self, seat: Member) -> Price | None:
        return FREE


async def test_a_running_call_ends_normally() -> None:
    gateway = SlowGateway()
    tap = DrainableGateway(gateway)
    call = asyncio.create_task(tap.complete(CALL))
    await asyncio.sleep(0)
    closing = asyncio.create_task(tap.close(grace_seconds=30))
    await asyncio.sleep(0)
    gateway.may_reply.set()

    await closing

    assert (await call).text == "Because."


async def test_a_closed_gateway_starts_no_call() -> None:
    gateway = SlowGateway()
    tap = DrainableGateway(gateway)
    await tap.close(grace_seconds=30)

    call = asyncio.create_task(tap.complete(CALL))
    await asyncio.sleep(0)

    assert (gateway.calls, call.done()) == (0, False)
    call.cancel()


async def test_the_grace_period_ends() -> None:
    tap = DrainableGateway(SlowGateway())
    call = asyncio.create_task(tap.complete(CALL))
    await asyncio.sleep(0)

    await tap.close(grace_seconds=0.01)

    assert not call.done()
    call.cancel()
