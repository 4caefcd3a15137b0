"""Discord at the start and while it runs: tokens that do not work, and a Discord that is away.

The product is a process of its own beside the fake; whatever becomes of Discord, its page goes on,
and no token is in anything it says.
"""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.bot.discord.story import QUICK
from tests.bot.homes import TIMEOUT_SECONDS, Home
from tests.bot.running import RunningServer, holds_for
from tests.bot.running import running_server as watched
from tests.ports import free_port
from tests.wire.discord import Fail, FakeDiscord, Installation, Storm

TOKEN, WRONG = "MTAw.mine.secret", "MTAw.wrong.secret"
STILL_SECONDS = 1.5
SYNC = "PUT /applications/*/commands"


def running(folder: Path, settings: dict[str, str]) -> AbstractAsyncContextManager[RunningServer]:
    """Serve until the block ends; no token may be in what was said by then."""
    return watched(Home(folder, settings), (TOKEN, WRONG))


def a_discord(port: int = 0) -> FakeDiscord:
    return FakeDiscord(app=Installation(token=TOKEN), port=port)


@pytest.mark.parametrize("token", [WRONG, "Bot " + TOKEN, "ein Schlüssel"])
async def test_a_token_that_does_not_work_is_told_once_and_not_tried_again(
    tmp_path: Path, token: str
) -> None:
    async with (
        a_discord() as discord,
        running(tmp_path, {**discord.settings, "DISCORD_TOKEN": token}) as run,
    ):
        line = await run.says("Discord: not started. ")
        assert await run.page_is_up()
        assert await holds_for(lambda: len(discord.calls) == 1, STILL_SECONDS)

    assert "DISCORD_TOKEN does not work: choose Reset Token on the Bot page" in line
    assert run.of("Discord") == [line]
    assert discord.gateway.identifies == []


async def test_a_blank_token_counts_as_unset(tmp_path: Path) -> None:
    async with (
        a_discord() as discord,
        running(tmp_path, {**discord.settings, "DISCORD_TOKEN": "  "}) as run,
    ):
        assert await run.says("Discord: ") == "Discord: not started (no token)"
        assert await run.page_is_up()

    assert discord.calls == []


@pytest.mark.parametrize(
    ("code", "told"),
    [
        pytest.param(4004, "Discord takes DISCORD_TOKEN no more (4004)", id="token"),
        pytest.param(4011, "in more servers than one connection may serve", id="servers"),
        pytest.param(4014, "(4014, disallowed intents)", id="intents"),
        pytest.param(4013, "Discord closed the connection for good (4013)", id="another"),
    ],
)
async def test_a_fatal_close_at_startup_is_reported_once(
    tmp_path: Path, code: int, told: str
) -> None:
    async with a_discord() as discord:
        discord.gateway.turn_away(code)
        async with running(tmp_path, discord.settings) as run:
            line = await run.says("Discord: not started. ")
            assert await holds_for(lambda: len(discord.gateway.identifies) == 1, STILL_SECONDS)
            assert await run.page_is_up()

    assert told in line
    assert run.of("Discord") == [line]


@pytest.mark.parametrize("code", [4004, 4014])
async def test_a_fatal_close_of_the_gateway_stops_only_discord(tmp_path: Path, code: int) -> None:
    async with a_discord() as discord, running(tmp_path, discord.settings) as run:
        await run.says("Discord: council#0001 is in Home")
        await discord.gateway.close(code)
        line = await run.says("Discord: stopped. ")
        assert await holds_for(lambda: len(discord.gateway.identifies) == 1, STILL_SECONDS)
        assert await run.page_is_up()

    assert f"({code}" in line
    assert len(run.of("Discord")) == 2


async def test_a_lost_connection_is_restored(tmp_path: Path) -> None:
    async with a_discord() as discord, running(tmp_path, discord.settings) as run:
        await run.says("Discord: council#0001 is in Home")
        discord.gateway.cut()
        await discord.until(lambda: discord.gateway.resumes, TIMEOUT_SECONDS)
        await discord.connected(TIMEOUT_SECONDS)
        deed = await discord.slash("U1", "C1", "council help")

    assert deed.accepted
    assert len(run.of("Discord")) == 1


async def test_an_unreachable_discord_at_startup_is_retried(tmp_path: Path) -> None:
    port = free_port()
    base = f"127.0.0.1:{port}"
    told = {
        "DISCORD_TOKEN": TOKEN,
        "DISCORD_API_URL": f"http://{base}/api/v10",
        "DISCORD_GATEWAY_URL": f"ws://{base}/gateway",
    }
    async with running(tmp_path, told) as run:
        lost = await run.says("Discord: The connection to Discord was lost")
        assert await run.page_is_up()
        async with a_discord(port) as discord:
            await run.says("Discord: council#0001 is in Home")
            deed = await discord.slash("U1", "C1", "council help")

    assert deed.accepted
    assert lost.endswith("The next try is in 1 s.")


async def test_a_server_error_at_startup_is_retried(tmp_path: Path) -> None:
    async with a_discord() as discord:
        discord.trouble("GET /users/@me", Fail(503))
        discord.trouble("GET /oauth2/applications/@me", Fail(503))
        async with running(tmp_path, discord.settings) as run:
            await run.says("Discord: council#0001 is in Home")

    fault = "Discord: Discord is at fault itself just now (503). The next try is in"
    assert run.of("Discord")[:2] == [f"{fault} 1 s.", f"{fault} 2 s."]


async def test_commands_are_registered_only_when_they_have_changed(tmp_path: Path) -> None:
    async with FakeDiscord(QUICK, app=Installation(token=TOKEN)) as discord:
        for _ in range(2):
            async with running(tmp_path, discord.settings) as run:
                await run.says("Discord: council#0001 is in Home")
        (tmp_path / "data" / "discord-commands").write_text("those of an older version")
        async with running(tmp_path, discord.settings) as run:
            await run.says("Discord: council#0001 is in Home")

    assert len(discord.called(SYNC)) == 2
    assert discord.commands() == ["council", "Ask the council"]


async def test_a_failed_registration_of_commands_is_retried(tmp_path: Path) -> None:
    async with a_discord() as discord:
        discord.storm(SYNC, Storm(600, from_cloudflare=True))
        async with running(tmp_path, discord.settings) as run:
            await run.says("Discord: Discord is asked too often just now. The next try is in 1 s.")
            discord.storm(SYNC, Storm(0))
            await run.says("Discord: council#0001 is in Home")

    assert discord.commands() == ["council", "Ask the council"]


async def test_an_interactions_endpoint_is_reported_at_startup(
    tmp_path: Path,
) -> None:
    app = Installation(token=TOKEN, interactions_url="https://example.com/")
    async with FakeDiscord(app=app) as discord, running(tmp_path, discord.settings) as run:
        line = await run.says("Interactions Endpoint URL")

    assert line.startswith("Discord: Commands and buttons go elsewhere: ")
