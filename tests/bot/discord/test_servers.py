"""A server (guild) that removes the bot: its rounds are deleted; an outage deletes none."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.discord.servers import SERVER
from tests.bot.discord.in_process import InProcessBot, run_in_process, start_bot
from tests.bot.discord.story import QUICK, custom_id_of
from tests.wire.discord import Fail, FakeDiscord

REMOVED = "Discord: The bot was removed from Home: 1 round deleted."


@pytest.fixture
async def bot() -> AsyncIterator[InProcessBot]:
    async with run_in_process(FakeDiscord(QUICK)) as running:
        yield running


async def test_a_server_that_removes_the_bot_loses_its_rounds(
    bot: InProcessBot,
) -> None:
    await bot.ask()
    line = await bot.load_line()

    bot.discord.remove_bot("G1")

    await bot.discord.until(lambda: REMOVED in bot.reports)
    assert await bot.app.store.ids() == ()
    assert bot.app.runner.latest(line.id) is None


async def test_rounds_of_other_servers_and_of_direct_messages_stay(bot: InProcessBot) -> None:
    bot.release_models()
    bot.discord.direct_message("U1", "Which queue, between us?")
    await bot.discord.slash("USTRANGER", "A1", "council ask", question="And in here?")
    await bot.ask()
    await bot.discord.until(lambda: custom_id_of(bot.bot_messages()[0], "answers"))

    bot.discord.remove_bot("G1")

    await bot.discord.until(lambda: REMOVED in bot.reports)
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
    assert len(bot.reports) == 1


async def test_a_removal_missed_by_a_lost_connection_is_found_by_the_next(
    bot: InProcessBot,
) -> None:
    await bot.ask()

    bot.discord.gateway.forget_sessions()
    bot.discord.gateway.cut()
    bot.discord.remove_bot("G1")

    await bot.discord.until(lambda: bot.reports[1:], 60)
    assert bot.reports[1].endswith(": 1 round deleted.")
    assert await bot.app.store.ids() == ()


@asynccontextmanager
async def stopped_with_a_round() -> AsyncIterator[InProcessBot]:
    async with FakeDiscord(QUICK) as discord:
        async with start_bot(discord) as bot:
            bot.release_models()
            await bot.ask()
            await bot.wait_until_delivered()
        discord.gateway.forget_sessions()
        yield bot


async def test_a_removal_while_the_bot_was_offline_is_found_at_startup() -> None:
    async with stopped_with_a_round() as before:
        before.discord.remove_bot("G1")

        async with start_bot(before.discord, before.app) as bot:
            await bot.discord.until(lambda: bot.reports[1:], 60)

        assert bot.reports[1].endswith(": 1 round deleted.")
        assert await before.app.store.ids() == ()


async def test_rounds_of_an_unknown_server_stay() -> None:
    async with stopped_with_a_round() as before:
        await before.app.key_values.delete(SERVER, "")
        before.discord.remove_bot("G1")

        async with start_bot(before.discord, before.app) as bot:
            await bot.discord.connected()
            await bot.discord.slash("USTRANGER", "A1", "council help")

        assert len(await before.app.store.ids()) == 1


async def test_an_unconfirmed_removal_deletes_nothing() -> None:
    async with stopped_with_a_round() as before:
        discord = before.discord
        discord.remove_bot("G1")
        discord.trouble("GET /guilds/*", Fail(503), times=9)
        async with start_bot(discord, before.app):
            await discord.until(lambda: discord.called("GET /guilds/*"))
            await discord.slash("USTRANGER", "A1", "council help")
        assert len(await before.app.store.ids()) == 1

        discord.calm()
        async with start_bot(discord, before.app) as bot:
            await discord.until(lambda: bot.reports[1:], 60)

        assert await before.app.store.ids() == ()
