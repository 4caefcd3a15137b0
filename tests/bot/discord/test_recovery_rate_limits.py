"""Discord's own limits: how often, for how long, and in which servers."""

import time
from dataclasses import replace
from pathlib import Path

from tests.bot.discord.in_process import inside
from tests.bot.discord.story import QUICK, part
from tests.wire.discord import FakeDiscord, Permission


async def test_within_discords_own_limits_a_round_needs_no_refusal(tmp_path: Path) -> None:
    async with inside(tmp_path, FakeDiscord()) as bot:
        await bot.asks()
        bot.go_on()

        await bot.is_one_whole_round()
        assert not [call for call in bot.discord.calls if call.status == 429]


async def test_after_a_quarter_of_an_hour_the_asker_is_told_by_a_direct_message(
    tmp_path: Path,
) -> None:
    later = [0.0]
    rules = replace(QUICK, now=lambda: time.time() + later[0])
    async with inside(tmp_path, FakeDiscord(rules)) as bot:
        bot.permit(deny=Permission.CREATE_PUBLIC_THREADS)
        await bot.asks()
        later[0] = 15 * 60 + 1
        bot.go_on()
        await bot.delivered()

        assert part(bot.ours()[0], "answers")
        (told,) = bot.discord.direct(bot.person)
        assert "I need Create Public Threads" in told.text
