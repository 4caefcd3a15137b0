"""A vote on a whole bake-off, in one modal."""

import pytest

from bot.bakeoffs.render.suites import KEEP
from tests.bot.slack.story import Stage, text_of
from tests.bot.slack.test_modals_voting import VOTES

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_bakeoff_is_voted_on_in_one_modal(stage: Stage) -> None:
    cleo = stage.add_user("cleo", is_admin=True)
    channel = stage.add_channel(cleo)
    kept = await stage.reply_to(cleo, channel, "suite add blindly\nWhich one?\nWhich other?")
    await stage.slack.click(kept, f"council:{KEEP}", cleo)
    await stage.slack.until(
        lambda: stage.home.sql("SELECT 1 FROM suite WHERE name = 'blindly'"), 30
    )
    await stage.slack.command(cleo, channel, "/council", "bakeoff blindly now")
    done = "SELECT count(*) FROM round WHERE bakeoff != '' AND channel = ? AND seconds IS NOT NULL"
    await stage.slack.until(lambda: stage.home.sql(done, channel) == [(2,)], 30)

    opened = await stage.reply_to("U2", channel, "bakeoff vote")
    assert "0 of 2 questions voted, by 0 people" in text_of(opened)
    await stage.slack.click(opened, "council:bakeoff_vote", "U2")
    for voted in range(2):
        view = await stage.wait_for_modal("U2", f"{voted} of 2 questions voted")
        await stage.slack.click(view, "council:best", "U2")

    await stage.wait_for_modal("U2", "2 of 2 questions voted, by 1 person; 2 by you")
    assert [row[2] for row in stage.home.sql(VOTES, channel)] == [1, 1]
