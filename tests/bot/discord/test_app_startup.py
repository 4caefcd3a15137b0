"""Discord at start-up and while it runs: bad tokens, close codes, an unreachable Discord.

Only the first test starts the product as a process: the page stays up, and no token is written.
"""

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.discord.app import (
    CLOSE_REASONS,
    ENDPOINT_URL_IS_SET,
    LOGIN_REFUSED,
    OTHER_CLOSE_REASON,
)
from bot.discord.config import read_credentials
from bot.discord.listeners import COMMANDS_MEMO
from bot.settings import Settings
from tests.bot.app_fakes import COMMANDS, an_app
from tests.bot.discord.in_process import Connection, connect, start_bot
from tests.bot.discord.story import QUICK, custom_id_of, with_older_button
from tests.bot.homes import Home
from tests.bot.running import running_server
from tests.ports import free_port
from tests.wire.discord import Fail, FakeDiscord, Installation, Storm

TOKEN, WRONG = "MTAw.mine.secret", "MTAw.wrong.secret"
SYNC = "PUT /applications/*/commands"
TIMEOUT_SECONDS = 30


def make_discord(port: int = 0, interactions_url: str = "") -> FakeDiscord:
    app = Installation(token=TOKEN, interactions_url=interactions_url)
    return FakeDiscord(QUICK, app=app, port=port)


def is_connected(connection: Connection) -> bool:
    return any("council#0001 is in Home" in line for line in connection.reports)


async def test_a_wrong_token_stops_only_discord_and_is_never_written(tmp_path: Path) -> None:
    async with make_discord() as discord:
        home = Home(tmp_path, {**discord.settings, "DISCORD_TOKEN": WRONG})
        async with running_server(home, (TOKEN, WRONG)) as run:
            line = await run.says("Discord: not started. ")
            assert await run.page_is_up()

    assert LOGIN_REFUSED in line
    assert run.of("Discord") == [line]


@pytest.mark.parametrize("token", [WRONG, "Bot " + TOKEN, "ein Schlüssel"])
async def test_a_token_that_does_not_work_is_reported_once_and_not_tried_again(token: str) -> None:
    async with make_discord() as discord, connect(discord, token=token) as connection:
        await asyncio.wait_for(connection.task, TIMEOUT_SECONDS)

    assert connection.reports == [f"Discord: not started. {LOGIN_REFUSED}"]
    assert len(discord.calls) == 1
    assert discord.gateway.identifies == []


def test_a_blank_token_counts_as_unset() -> None:
    assert read_credentials(Settings(keys={"DISCORD_TOKEN": SecretStr("  ")})) is None


@pytest.mark.parametrize("code", [*CLOSE_REASONS, 4013])
async def test_a_fatal_close_at_startup_is_reported_once(code: int) -> None:
    async with make_discord() as discord:
        discord.gateway.turn_away(code)
        async with connect(discord) as connection:
            await asyncio.wait_for(connection.task, TIMEOUT_SECONDS)

    reason = CLOSE_REASONS.get(code, OTHER_CLOSE_REASON.format(code=code))
    assert connection.reports == [f"Discord: not started. {reason}"]
    assert f"({code}" in reason
    assert len(discord.gateway.identifies) == 1


@pytest.mark.parametrize("code", [4004, 4014])
async def test_a_fatal_close_of_the_gateway_stops_discord(code: int) -> None:
    async with make_discord() as discord, connect(discord) as connection:
        await discord.until(lambda: connection.reports, TIMEOUT_SECONDS)
        await discord.gateway.close(code)
        await asyncio.wait_for(connection.task, TIMEOUT_SECONDS)

    assert connection.reports[1:] == [f"Discord: stopped. {CLOSE_REASONS[code]}"]
    assert len(discord.gateway.identifies) == 1


async def test_an_unreachable_discord_at_startup_is_retried() -> None:
    discord = make_discord(free_port())
    async with discord:
        pass  # so that its address is known
    async with connect(discord) as connection:
        await discord.until(lambda: connection.reports, TIMEOUT_SECONDS)
        async with discord:
            await discord.until(lambda: is_connected(connection), TIMEOUT_SECONDS)
            await discord.connected()
            action = await discord.slash("U1", "C1", "council help")

    assert action.accepted
    assert "The connection to Discord was lost" in connection.reports[0]
    assert connection.reports[0].endswith("The next try is in 1 s.")


async def test_a_server_error_at_startup_is_retried() -> None:
    async with make_discord() as discord:
        discord.trouble("GET /users/@me", Fail(503))
        async with connect(discord) as connection:
            await discord.until(lambda: is_connected(connection), TIMEOUT_SECONDS)

    assert "(503)" in connection.reports[0]
    assert connection.reports[0].endswith("The next try is in 1 s.")


# All commands for admins are of plug-ins.
ADMINS = ["council-admin"] if any(one.for_admins for one in COMMANDS.commands) else []
REGISTERED = ["council", *ADMINS, "Ask the council"]


async def test_commands_are_registered_only_when_they_have_changed() -> None:
    app = an_app()
    async with make_discord() as discord:

        async def start() -> None:
            async with connect(discord, app) as connection:
                await discord.until(lambda: connection.reports, TIMEOUT_SECONDS)

        await start()
        await start()
        await app.key_values.put(COMMANDS_MEMO, discord.user("BOT").id, "those of an older version")
        await start()

    assert len(discord.called(SYNC)) == 2
    assert discord.commands() == REGISTERED


async def test_a_failed_registration_of_commands_is_retried() -> None:
    async with make_discord() as discord:
        discord.storm(SYNC, Storm(600, from_cloudflare=True))
        async with connect(discord) as connection:
            await discord.until(lambda: connection.reports, TIMEOUT_SECONDS)
            discord.storm(SYNC, Storm(0))
            await discord.until(lambda: is_connected(connection), TIMEOUT_SECONDS)

    assert connection.reports[0].endswith("The next try is in 1 s.")
    assert discord.commands() == REGISTERED


async def test_an_interactions_endpoint_is_reported_at_startup() -> None:
    async with (
        make_discord(interactions_url="https://example.com/") as discord,
        connect(discord) as connection,
    ):
        await discord.until(lambda: connection.reports[1:], TIMEOUT_SECONDS)

    assert connection.reports[1] == f"Discord: {ENDPOINT_URL_IS_SET}"


async def test_buttons_confirmations_and_modals_survive_a_restart() -> None:
    async with FakeDiscord(QUICK) as discord:
        async with start_bot(discord) as bot:
            root = await bot.answered()
            question = await bot.to_confirm(root)
            root = with_older_button(root, "unhelpful")
            modal = (await discord.click(root, custom_id_of(root, "unhelpful"), bot.person)).modal
            assert modal

        async with start_bot(discord, bot.app):
            await discord.submit(modal, {"reason": "No."}, bot.person)
            await discord.until(lambda: "Noted, thank you." in bot.private_texts())
            await bot.press(root, "answers", "Answer ")
            await discord.click(question, custom_id_of(question, "yes_again"), bot.person)
            await discord.until(lambda: bot.bot_messages()[1:])
