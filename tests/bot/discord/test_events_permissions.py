"""The invitation asks for exactly the permissions that the bot needs."""

from pathlib import Path

from bot.discord.events import BOT_PERMISSIONS
from tests.bot.discord.process import run_process
from tests.wire.discord import FakeDiscord, Permission
from tests.wire.discord.permissions import EVERYTHING

GRANTED = Permission(BOT_PERMISSIONS.value)


async def test_a_whole_round_takes_no_more_than_the_invitation_asks_for(tmp_path: Path) -> None:
    async with FakeDiscord() as discord, run_process(tmp_path, discord) as bot:
        discord.permit("C1", "BOT", allow=GRANTED, deny=EVERYTHING & ~GRANTED)
        await discord.slash("U1", "C1", "council ask", question="Which queue?")
        thread = await bot.told(await bot.answered("C1"))

    assert thread[-1].files
    assert not [call for call in discord.refusals if call.status == 403]
    assert discord.faults == []
