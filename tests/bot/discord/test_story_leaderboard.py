"""`/council leaderboard` in Discord: the board in the channel, figure and table in its thread."""

import pytest

from tests.bot.discord.story import TIMEOUT_SECONDS, StoryBot

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_the_leaderboard_is_posted_with_its_figure_in_the_thread(product: StoryBot) -> None:
    channel = product.channel()
    await product.wait_for_thread(await product.ask(channel))

    result = await product.discord.slash("U1", channel, "council leaderboard", words="")

    assert result.accepted

    def is_whole() -> bool:
        boards = [m for m in product.discord.messages(channel) if "Leaderboard" in m.text]
        said = boards[0].thread.said if boards and boards[0].thread else []
        return {"leaderboard.png", "leaderboard.csv"} <= {f.name for m in said for f in m.files}

    await product.discord.until(is_whole, TIMEOUT_SECONDS)
    (root,) = [m for m in product.discord.messages(channel) if "Leaderboard" in m.text]
    thread = product.discord.thread_of(root)
    files = {file.name: file for message in thread.said for file in message.files}
    assert thread.name == "Leaderboard"
    assert files["leaderboard.png"].content.startswith(b"\x89PNG")
    assert "Places are shared where the difference may be chance." in root.text
    said = channel.said  # what only the one who asked saw is among it
    await product.discord.until(lambda: not any(m.is_loading for m in said), TIMEOUT_SECONDS)
