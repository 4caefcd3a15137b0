"""A server that removes the bot takes its rounds along, whenever it does; an outage takes none."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.bot.discord.in_process import InProcessBot, run_in_process
from tests.bot.discord.process import ProcessBot, run_process
from tests.bot.discord.story import QUICK, custom_id_of
from tests.wire.discord import Fail, FakeDiscord

REMOVED = "Discord: The bot was removed from Home: 1 round deleted."


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[InProcessBot]:
    async with run_in_process(tmp_path, FakeDiscord(QUICK)) as running:
        yield running


async def test_a_server_that_removes_the_bot_loses_its_rounds(
    bot: InProcessBot,
) -> None:
    await bot.ask()
    line = await bot.load_line()

    bot.discord.remove_bot("G1")

    await bot.discord.until(lambda: REMOVED in bot.told)
    assert await bot.app.store.ids() == ()
    assert bot.app.runner.latest(line.id) is None


async def test_rounds_of_other_servers_and_of_direct_messages_stay(bot: InProcessBot) -> None:
    bot.release_models()
    bot.discord.direct_message("U1", "Which queue, between us?")
    await bot.discord.slash("USTRANGER", "A1", "council ask", question="And in here?")
    await bot.ask()
    await bot.discord.until(lambda: custom_id_of(bot.bot_messages()[0], "answers"))

    bot.discord.remove_bot("G1")

    await bot.discord.until(lambda: REMOVED in bot.told)
    lines = await bot.app.store.list_summaries()
    assert {line.question for line in lines} == {"Which queue, between us?", "And in here?"}


async def test_an_outage_is_not_a_removal(bot: InProcessBot) -> None:
    root = await bot.ask()

    bot.discord.outage("G1")
    await bot.discord.connected()
    bot.release_models()
    await bot.wait_until_delivered()
    bot.discord.outage("G1", over=True)
    await bot.discord.connected()

    assert custom_id_of(root, "answers")
    assert len(await bot.app.store.ids()) == 1
    assert len(bot.told) == 1


async def test_a_removal_missed_by_a_lost_connection_is_found_by_the_next(
    bot: InProcessBot,
) -> None:
    await bot.ask()

    bot.discord.gateway.forget_sessions()
    bot.discord.gateway.cut()
    bot.discord.remove_bot("G1")

    await bot.discord.until(lambda: bot.told[1:], 20)
    assert bot.told[1].endswith(": 1 round deleted.")
    assert await bot.app.store.ids() == ()


@asynccontextmanager
async def stopped_with_a_round(folder: Path) -> AsyncIterator[tuple[FakeDiscord, ProcessBot]]:
    """Return a Discord in which a round was held, and the product, stopped after it."""
    async with FakeDiscord(QUICK) as discord:
        async with run_process(folder, discord) as bot:
            await discord.slash("U1", "C1", "council ask", question="Where is xylograph kept?")
            await bot.told(await bot.answered("C1"))
        discord.gateway.cut()
        discord.gateway.forget_sessions()
        yield discord, bot


async def test_a_removal_while_the_bot_was_offline_is_found_at_startup(tmp_path: Path) -> None:
    async with stopped_with_a_round(tmp_path) as (discord, before):
        discord.remove_bot("G1")
        async with run_process(tmp_path, discord) as bot:
            await discord.until(lambda: b"xylograph" not in bot.home.stored_bytes(), 20)

        assert before.home.sql("SELECT count(*) FROM round") == [(0,)]


async def test_rounds_of_an_unknown_server_stay(tmp_path: Path) -> None:
    async with stopped_with_a_round(tmp_path) as (discord, before):
        (before.home.data / "discord-servers").unlink()
        discord.remove_bot("G1")
        async with run_process(tmp_path, discord):
            await discord.connected()
            await discord.slash("USTRANGER", "A1", "council help")

        assert before.home.sql("SELECT count(*) FROM round") == [(1,)]


async def test_an_unconfirmed_removal_deletes_nothing(tmp_path: Path) -> None:
    async with stopped_with_a_round(tmp_path) as (discord, before):
        discord.remove_bot("G1")
        discord.trouble("GET /guilds/*", Fail(503), times=9)
        async with run_process(tmp_path, discord):
            await discord.until(lambda: discord.called("GET /guilds/*"))
            await discord.slash("USTRANGER", "A1", "council help")
        assert before.home.sql("SELECT count(*) FROM round") == [(1,)]
        discord.calm()
        async with run_process(tmp_path, discord) as bot:
            await discord.until(lambda: b"xylograph" not in bot.home.stored_bytes(), 20)
