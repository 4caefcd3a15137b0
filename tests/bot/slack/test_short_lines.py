"""One- and two-word lines in Slack, by every way to write to the bot: none asks a model."""

from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from tests.bot.short_lines import SHORT_LINES
from tests.bot.slack.in_process import make_fake_slack, run_slack
from tests.wire.slack import BOT, FakeSlack

Write = Callable[[FakeSlack, str], Awaitable[object]]


async def _command(slack: FakeSlack, line: str) -> None:
    await slack.command("U1", "C1", "/council", line.removeprefix("/council"))


async def _mention(slack: FakeSlack, line: str) -> None:
    await slack.mention("U1", "C1", f"<@{BOT}> {line}")


async def _direct_message(slack: FakeSlack, line: str) -> None:
    await slack.direct_message("U1", line)


@pytest.mark.parametrize("write", [_command, _mention, _direct_message])
async def test_no_short_line_asks_a_model_and_every_one_is_answered(write: Write) -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:

        def replies() -> int:
            own = [one for one in slack.direct("U1") if one.user == BOT]
            return len(slack.ephemerals("U1")) + len(slack.views("U1")) + len(own)

        def has_more_than(before: int) -> bool:
            return replies() > before

        for line in SHORT_LINES:
            before = replies()
            await write(slack, line)
            await slack.until(partial(has_more_than, before))

        assert bot.gateway.asked == []
        assert await bot.app.store.ids() == ()
        assert bot.bot_messages() == []


async def test_ask_alone_opens_the_form_and_a_mention_offers_it() -> None:
    async with make_fake_slack() as slack, run_slack(slack):
        await slack.command("U1", "C1", "/council", "ask")
        await slack.until(lambda: slack.views("U1"))
        assert "Ask the council" in str(slack.views("U1")[-1])

        await slack.mention("U2", "C1", f"<@{BOT}> ask")
        await slack.until(lambda: slack.ephemerals("U2"))
        await slack.click(slack.ephemerals("U2")[-1], "council:starter", "U2")
        await slack.until(lambda: slack.views("U2"))


async def test_all_commands_are_behind_a_button_and_only_those_the_reader_may_use() -> None:
    async with make_fake_slack() as slack, run_slack(slack):
        await slack.command("U1", "C1", "/council")
        await slack.until(lambda: slack.ephemerals("U1"))

        await slack.click(slack.ephemerals("U1")[-1], "council:command", "U1")

        await slack.until(lambda: len(slack.ephemerals("U1")) > 1)
        listed = str(slack.ephemerals("U1")[-1].blocks)
        assert "/council rounds" in listed
        assert "/council schedule list" in listed
        assert "/council schedule add" not in listed
