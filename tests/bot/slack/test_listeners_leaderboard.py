"""`/council leaderboard`: the table in the channel, figure and CSV in its thread."""

import pytest

from tests.bot.slack.story import TIMEOUT_SECONDS, Stage, text_of

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_the_leaderboard_is_posted_with_its_figure_in_the_thread(stage: Stage) -> None:
    channel = stage.add_channel()
    await stage.wait_for_thread(await stage.ask(channel))

    await stage.slack.command("U1", channel, "/council", "leaderboard")

    def boards() -> list[object]:
        return [m for m in stage.slack.messages(channel) if "Leaderboard" in text_of(m)]

    await stage.slack.until(lambda: bool(boards()), TIMEOUT_SECONDS)
    (root,) = [m for m in stage.slack.messages(channel) if "Leaderboard" in text_of(m)]

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
    assert "place 1" in (picture.alt_text or "")
    assert "Places are shared where the difference may be chance." in text_of(root)
