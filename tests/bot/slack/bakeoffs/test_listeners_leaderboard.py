"""`/council leaderboard`: shown to its asker alone; shared, its figure and CSV in its thread."""

import pytest

from tests.bot.slack.story import TIMEOUT_SECONDS, Stage, text_of
from tests.wire.slack import Message

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_leaderboard_is_private_until_shared_with_its_figure(stage: Stage) -> None:
    channel = stage.add_channel()
    await stage.wait_for_thread(await stage.ask(channel))

    await stage.slack.command("U1", channel, "/council", "leaderboard")
    shown = await stage.wait_for_ephemeral("U1", channel, "Leaderboard")

    def boards() -> list[Message]:
        return [m for m in stage.slack.messages(channel) if "Leaderboard" in text_of(m)]

    assert boards() == []
    await stage.slack.click(shown, "council:share_board", "U1")
    await stage.slack.until(boards, TIMEOUT_SECONDS)
    (root,) = boards()

    def files() -> dict[str, object]:
        under = {message.ts for message in stage.slack.thread(channel, root.ts)}
        return {
            file.name: file
            for file in stage.slack.files
            if any(where == channel and ts in under for where, ts in file.shared_in)
        }

    await stage.slack.until(lambda: len(files()) == 2, TIMEOUT_SECONDS)
    picture = next(file for file in stage.slack.files if file.name == "leaderboard.png")
    assert files().keys() == {"leaderboard.png", "leaderboard.csv"}
    assert picture.content
    assert picture.content.startswith(b"\x89PNG")
    assert "=1. North" in (picture.alt_text or "")
    assert "“=1”: the difference could be chance." in text_of(root)
