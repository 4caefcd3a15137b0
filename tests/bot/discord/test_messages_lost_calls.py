"""Lost calls, server errors, rate limits, reconnects: every message is there once, in order."""

import pytest

from tests.bot.discord.in_process import InProcessBot
from tests.wire.discord import (
    DropAfter,
    DropBefore,
    Fail,
    FailAfter,
    Slow,
    Storm,
)
from tests.wire.faults import Fault

pytestmark = pytest.mark.asyncio(loop_scope="module")

POSTS, EDITS = "POST /channels/*/messages", "PATCH /channels/*/messages/*"
WHISPERS = "PATCH /webhooks/*"


@pytest.mark.parametrize(
    "troubles",
    [
        pytest.param((DropAfter(), DropBefore(), FailAfter(500)), id="mixed"),
        pytest.param((DropAfter(),) * 3, id="lost after", marks=pytest.mark.nightly),
        pytest.param((DropBefore(),) * 3, id="lost before", marks=pytest.mark.nightly),
        pytest.param((FailAfter(503), Fail(503), DropAfter()), id="server error"),
    ],
)
async def test_every_message_is_there_once(bot: InProcessBot, troubles: tuple[Fault, ...]) -> None:
    one, other, third = troubles
    bot.discord.trouble("POST /interactions/*", one)
    bot.discord.trouble(POSTS, one)  # the root
    await bot.ask()
    bot.discord.trouble(EDITS, other)  # the answer
    bot.discord.trouble("POST /channels/*/threads", other)
    bot.discord.trouble(POSTS, other)  # the first reply finds no thread
    bot.discord.trouble(POSTS, Slow(0))
    bot.discord.trouble(POSTS, third)
    bot.release_models()

    await bot.assert_one_whole_round()
    assert bot.discord.faults == []


@pytest.mark.parametrize(
    ("pattern", "storm"),
    [
        pytest.param(POSTS, Storm(1.2, 0.4), id="one route"),
        pytest.param("*", Storm(1.2, 0.4, everywhere=True), id="everywhere"),
        pytest.param(POSTS, Storm(1.2, from_cloudflare=True), id="Cloudflare"),
    ],
)
async def test_a_storm_loses_and_doubles_nothing(
    bot: InProcessBot, pattern: str, storm: Storm
) -> None:
    await bot.ask()
    before = bot.discord.invalid_requests
    bot.discord.storm(pattern, storm)
    bot.release_models()

    await bot.assert_one_whole_round()
    assert bot.discord.invalid_requests - before < 20


@pytest.mark.parametrize("way", ["closed", "asked to reconnect", "invalid", "cut"])
async def test_a_lost_gateway_connection_loses_nothing(bot: InProcessBot, way: str) -> None:
    root, gateway, sessions = await bot.ask(), bot.discord.gateway, bot.discord.gateway.sessions
    reports = [*bot.reports]
    match way:
        case "closed":
            await gateway.close(4000)
        case "asked to reconnect":
            await gateway.ask_to_reconnect()
        case "invalid":
            await gateway.invalidate()
        case "cut":
            gateway.cut()
    bot.release_models()
    await bot.assert_one_whole_round()
    await bot.discord.until(gateway.is_connected, 60)

    await bot.press(root, "answers", "Answer ")

    assert gateway.sessions == sessions + (way == "invalid")
    assert bot.reports == reports
