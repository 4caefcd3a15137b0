"""Process: `/council leaderboard` is private until its asker shares it in the channel."""

import pytest

from bot.bakeoffs.commands.reports import SHARE, SHARED
from tests.bot.discord.story import StoryBot

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_leaderboard_is_private_until_shared_and_is_shared_once(product: StoryBot) -> None:
    channel = product.channel()
    await product.wait_for_thread(await product.ask(channel))
    before = len(product.discord.said_by_bot(channel))

    result = await product.discord.slash("U1", channel, "council leaderboard")
    assert "Leaderboard" in await product.wait_for_reply(result)
    assert len(product.discord.said_by_bot(channel)) == before
    for _ in range(2):
        assert SHARED in await product.press("U1", result.sent[-1], SHARE)

    (board,) = product.discord.said_by_bot(channel)[before:]
    assert "Leaderboard" in board.text
