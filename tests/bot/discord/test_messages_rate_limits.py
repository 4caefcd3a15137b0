"""Discord's own limits: rate limits, permissions, and the 15 minutes of an interaction."""

import time
from dataclasses import replace

from bot.discord.events import BOT_PERMISSIONS
from tests.bot.discord.in_process import run_in_process
from tests.bot.discord.story import QUICK, custom_id_of
from tests.wire.discord import FakeDiscord, Permission
from tests.wire.discord.permissions import EVERYTHING


async def test_a_round_stays_within_discords_rate_limits_and_the_invitations_permissions() -> None:
    granted = Permission(BOT_PERMISSIONS.value)
    async with run_in_process(FakeDiscord()) as bot:
        bot.discord.permit(bot.place, "BOT", allow=granted, deny=EVERYTHING & ~granted)
        await bot.ask()
        bot.release_models()

        await bot.assert_one_whole_round()
        assert not [call for call in bot.discord.calls if call.status in {403, 429}]
        assert bot.discord.faults == []


async def test_after_fifteen_minutes_replies_are_direct_messages() -> None:
    later = [0.0]
    rules = replace(QUICK, now=lambda: time.time() + later[0])
    async with run_in_process(FakeDiscord(rules)) as bot:
        bot.permit(deny=Permission.CREATE_PUBLIC_THREADS)
        await bot.ask()
        later[0] = 15 * 60 + 1
        bot.release_models()
        await bot.wait_until_delivered()

        assert custom_id_of(bot.bot_messages()[0], "answers")
        (reply,) = bot.discord.direct(bot.person)
        assert "I need Create Public Threads" in reply.text
