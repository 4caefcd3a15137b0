"""Prices come from the seat, or else from litellm; otherwise they are unknown."""

from pathlib import Path

import pytest

from council.gateways.litellm import LitellmGateway, SeatSettings
from council.gateways.local.gateway import LocalGateway
from council.gateways.scripted import ScriptedGateway
from council.money import FREE, Price
from council.panel import Member, ModelId

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
    local = LocalGateway(tmp_path, lambda _: None)

    assert (await ScriptedGateway().price(SEAT)).is_free
    assert (await local.price(SEAT)).is_free
