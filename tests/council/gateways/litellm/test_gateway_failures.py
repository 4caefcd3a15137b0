"""Providers that misbehave are not flooded with retries, and dead models are left alone."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from council.gateways.litellm.client import SeatSettings
from council.gateways.litellm.gateway import LitellmGateway
from council.gateways.local.gateway import LocalGateway
from council.gateways.scripted import ScriptedGateway
from council.money import FREE, Price
from council.panel import Member, ModelId
from council.providers import BreakerState, Limits
from tests.council.gateways.litellm.harness import CALL, GatewayHarness
from tests.wire.models import (
    Behaviour,
    Outcome,
    Request,
    Say,
    answer,
    content_filter,
    drop,
    empty,
    fail,
    hang,
    no_such_model,
    wrong_key,
)


async def test_other_calls_of_a_model_wait_while_it_asks_to_slow_down(
    harness: GatewayHarness,
) -> None:
    harness.gateway = LitellmGateway({"seat": harness.seat})

    for behaviour in (fail(429, retry_after=60), answer("Too soon.")):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.5):  # the first reply must have come by then
                await harness.says(behaviour)

    assert harness.requests == 1


@pytest.mark.parametrize("behaviour", [fail(500), drop()], ids=["fails", "drops"])
async def test_a_model_that_failed_three_times_is_paused_and_then_probed(
    harness: GatewayHarness, behaviour: Behaviour
) -> None:
    for _ in range(3):
        await harness.fault(behaviour)
    asked = harness.requests

    assert str(await harness.fault(behaviour)).startswith(
        "was not asked: it failed 3 times in a row"
    )
    assert harness.requests == asked
    harness.waits.append(30.0)
    assert (await harness.says(answer("Back."))).text == "Back."
    assert (await harness.says(answer("Still."))).text == "Still."


@pytest.mark.parametrize(
    "behaviour",
    [fail(400), wrong_key(), fail(403), no_such_model(), fail(429), content_filter(), empty()],
    ids=["400", "401", "403", "404", "429", "filtered", "empty"],
)
async def test_a_refused_request_is_not_an_outage(
    harness: GatewayHarness, behaviour: Behaviour
) -> None:
    sentences = {str(await harness.fault(behaviour)) for _ in range(5)}

    assert len(sentences) == 1
    (model,) = harness.gateway.health().models
    assert model.breaker is BreakerState.CLOSED


async def test_a_model_that_hangs_until_three_deadlines_is_paused(
    harness: GatewayHarness,
) -> None:
    asked, hangs = asyncio.Event(), hang()

    def hang_once_asked(request: Request) -> Outcome:
        asked.set()
        return hangs(request)

    harness.server.script["mine"] = hang_once_asked
    for _ in range(3):
        past = asyncio.get_running_loop().time()
        call = asyncio.create_task(harness.gateway.complete(replace(CALL, deadline=past)))
        async with asyncio.timeout(30):
            await asked.wait()
        asked.clear()
        call.cancel()
        await asyncio.wait({call})

    assert str(await harness.fault(hang())).startswith("was not asked")
    assert harness.requests == 3


async def test_concurrent_calls_stay_within_the_limit(harness: GatewayHarness) -> None:
    at_once = []

    def count(_: Request) -> Say:
        at_once.append(harness.gateway.health().providers[0].under_way)
        return Say("Yes.", seconds=0.02)

    harness.gateway = LitellmGateway({"seat": harness.seat}, {"openai": Limits(concurrency=3)})
    harness.server.script["mine"] = count

    await asyncio.gather(*(harness.gateway.complete(CALL) for _ in range(9)))

    assert len(at_once) == 9
    assert max(at_once) == 3


async def test_a_deadline_in_the_queue_has_a_note_with_the_reason(harness: GatewayHarness) -> None:
    harness.gateway = LitellmGateway({"seat": harness.seat}, {"openai": Limits(concurrency=1)})
    arrived = asyncio.Event()
    notes: dict[str, list[str]] = {}

    def arrive(request: Request) -> Outcome:
        arrived.set()
        return hang()(request)

    harness.server.script["mine"] = arrive

    async def ask(name: str) -> None:
        try:
            await harness.gateway.complete(CALL)
        except asyncio.CancelledError as error:
            notes[name] = getattr(error, "__notes__", [])
            raise

    on_the_wire = asyncio.create_task(ask("on the wire"))
    await arrived.wait()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await ask("in the queue")
    on_the_wire.cancel()
    await asyncio.wait([on_the_wire])

    assert notes == {
        "in the queue": ["waited for its turn at its server until the time was up"],
        "on the wire": [],
    }


SEAT = Member("seat", ModelId("openai/gpt-4o-mini"), "Mini", "gpt")


async def price(settings: SeatSettings) -> Price | None:
    return await LitellmGateway({"seat": settings}).price(SEAT)


async def test_the_seats_own_price_wins() -> None:
    own = SeatSettings(
        "openai/gpt-4o-mini", input_usd_per_million=2.5, output_usd_per_million=10, max_tokens=500
    )

    assert await price(own) == Price(2.5e-6, 10e-6, 500)


async def test_litellms_price_is_used_for_models_it_knows() -> None:
    found = await price(SeatSettings("openai/gpt-4o-mini", max_tokens=300))

    assert found
    assert 0 < found.usd_in < found.usd_out < 1e-5
    assert found.max_tokens_out == 300


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(SeatSettings("openai/mine-and-only-mine"), id="model-nobody-knows"),
        pytest.param(SeatSettings("ollama/gpt-4o-mini"), id="of-another-provider"),
        pytest.param(
            SeatSettings("openai/gpt-4o-mini", api_base="http://127.0.0.1:1/v1"), id="own-server"
        ),
        pytest.param(
            SeatSettings(
                "openai/gpt-4o-mini", api_base="http://127.0.0.1:1", input_usd_per_million=1
            ),
            id="half-a-price",
        ),
    ],
)
async def test_an_unknown_price_is_not_free(settings: SeatSettings) -> None:
    assert await price(settings) is None


async def test_a_seat_without_settings_has_no_price() -> None:
    assert await LitellmGateway({}).price(SEAT) is None


async def test_a_private_server_can_be_free() -> None:
    free = SeatSettings(
        "openai/mine",
        api_base="http://127.0.0.1:1/v1",
        input_usd_per_million=0,
        output_usd_per_million=0,
    )

    assert await price(free) == FREE


async def test_scripts_and_demonstration_models_cost_nothing(tmp_path: Path) -> None:
    local = LocalGateway(tmp_path, lambda *_: None)

    assert (await ScriptedGateway().price(SEAT)).is_free
    assert (await local.price(SEAT)).is_free
