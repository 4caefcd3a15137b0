"""Discord's own limits: how often, for how long, and in which servers."""

import time
from dataclasses import replace
from pathlib import Path

from tests.bot.discord.in_process import run_in_process
from tests.bot.discord.story import QUICK, custom_id_of
from tests.wire.discord import FakeDiscord, Permission


async def test_a_round_stays_within_discords_rate_limits(tmp_path: Path) -> None:
    async with run_in_process(tmp_path, FakeDiscord()) as bot:
        await bot.ask()
        bot.release_models()

        await bot.assert_one_whole_round()
        assert not [call for call in bot.discord.calls if call.status == 429]


async def test_after_fifteen_minutes_replies_are_direct_messages(
    tmp_path: Path,
) -> None:
    later = [0.0]
    rules = replace(QUICK, now=lambda: time.time() + later[0])
    async with run_in_process(tmp_path, FakeDiscord(rules)) as bot:
        bot.permit(deny=Permission.CREATE_PUBLIC_THREADS)
        await bot.ask()
        later[0] = 15 * 60 + 1
        bot.release_models()
        await bot.wait_until_delivered()

        assert custom_id_of(bot.bot_messages()[0], "answers")
        (told,) = bot.discord.direct(bot.person)
        assert "I need Create Public Threads" in told.text
