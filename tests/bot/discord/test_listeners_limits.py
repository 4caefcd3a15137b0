"""Limits per server: rounds at once, and spending per day."""

from bot.access import Access
from tests.bot.discord.in_process import run_in_process
from tests.bot.discord.story import QUICK, custom_id_of
from tests.wire.discord import FakeDiscord


async def test_a_round_too_many_is_refused_until_another_has_its_answer() -> None:
    async with run_in_process(FakeDiscord(QUICK)) as bot:
        bot.app.access = Access(rounds_at_once=1)
        await bot.ask()

        await bot.command()
        await bot.discord.until(
            lambda: "1 round is under way in this workspace" in bot.private_texts()
        )
        assert len(bot.bot_messages()) == 1
        bot.release_models()
        await bot.wait_until_delivered()
        await bot.command()
        await bot.discord.until(
            lambda: len([m for m in bot.bot_messages() if custom_id_of(m, "answers")]) == 2
        )


async def test_another_server_and_direct_messages_have_room_of_their_own() -> None:
    async with run_in_process(FakeDiscord(QUICK)) as bot:
        bot.app.access = Access(rounds_at_once=1)
        await bot.ask()

        await bot.discord.slash("USTRANGER", "A1", "council ask", question="And here?")
        bot.discord.direct_message("U1", "And alone?")

        await bot.discord.until(lambda: bot.bot_messages(bot.discord.channel("A1")))
        await bot.discord.until(lambda: bot.discord.direct("U1")[1:])
        assert "under way" not in bot.discord.direct("U1")[1].text
