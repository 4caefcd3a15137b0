"""One story of the product as a process for each transport, and one of a token that is wrong."""

from pathlib import Path

import httpx
import pytest

from tests.bot.homes import Home
from tests.bot.running import running_server
from tests.bot.slack.process import RunningProduct, Transport, serve_slack, slack_environment
from tests.bot.slack.story import text_of
from tests.wire.slack import BOT, FakeSlack, Rates, Rules

TIMEOUT_SECONDS = 60
RATED = "SELECT helpful, reason FROM feedback"


@pytest.mark.parametrize("transport", ["socket", pytest.param("http", marks=pytest.mark.nightly)])
async def test_commands_mentions_messages_shortcuts_buttons_and_modals_work(
    tmp_path: Path, transport: Transport
) -> None:
    rules = Rules(rates=Rates(off=True))
    async with (
        FakeSlack(transport, rules) as slack,
        serve_slack(tmp_path, slack, transport) as bot,
    ):
        if transport == "http":
            assert await slack.request_url.verify()
        command = await slack.command("U1", "C1", "/council", "Is <!channel> or @here better?")
        assert command.accepted
        root = await bot.wait_for_answer("C1")
        thread = await bot.wait_for_thread("C1", root)
        (reply,) = map(text_of, thread)
        assert reply.index("Results") < reply.index("Rankings")
        assert slack.ephemerals("U1") == []

        await _press_buttons(slack, bot)
        await _ask_by_mention_message_and_shortcut(slack, bot)
        await _is_not_on_the_page(bot)

        assert slack.faults == []
        assert slack.pings() == []
        posts = slack.called("chat.postMessage")
        assert not any(c.flag("unfurl_links", True) or c.flag("unfurl_media", True) for c in posts)


async def _press_buttons(slack: FakeSlack, bot: RunningProduct) -> None:
    root = await bot.wait_for_answer("C1")
    await slack.click(root, "council:answers", "U2")
    await slack.until(lambda: "North" in "".join(map(text_of, slack.views("U2"))), TIMEOUT_SECONDS)
    await slack.click(root, "council:feedback", "U1", "negative")
    await slack.until(lambda: slack.views("U1"), TIMEOUT_SECONDS)
    await slack.submit(slack.views("U1")[-1], {"why": "No price."}, "U1")
    await slack.until(lambda: bot.home.sql(RATED) == [(0, "No price.")], TIMEOUT_SECONDS)


async def _ask_by_mention_message_and_shortcut(slack: FakeSlack, bot: RunningProduct) -> None:
    mention = await slack.mention("U1", "C1", f"<@{BOT}> Which queue?")
    again = await slack.deliver_again(mention)
    assert mention.accepted
    assert again.accepted
    await slack.direct_message("U2", "Which queue, between us?")
    await slack.shortcut("U1", "ask_the_council")
    await slack.until(lambda: slack.views("U1"), TIMEOUT_SECONDS)
    view = slack.views("U1")[-1]
    await slack.submit(view, {"question": "Which queue?"}, "U1")
    assert list(view.errors) == ["channel"]
    await slack.submit(view, {"question": "Which queue?", "channel": "G1"}, "U1")
    assert slack.views("U1") == []

    def delivered() -> bool:
        return bot.home.sql("SELECT count(*), sum(delivered) FROM round") == [(4, 4)]

    await slack.until(delivered, TIMEOUT_SECONDS)


async def _is_not_on_the_page(bot: RunningProduct) -> None:
    ids = [str(row[0]) for row in bot.home.sql("SELECT id FROM round")]
    address = f"http://127.0.0.1:{bot.home.settings['COUNCIL_PORT']}"
    async with httpx.AsyncClient(base_url=address, trust_env=False) as visitor:
        for path in ("", "/round.json", "/round.md", "/state"):
            assert (await visitor.get(f"/rounds/{ids[0]}{path}")).status_code == 404
        for path in ("/", "/rounds"):
            page = await visitor.get(path)
            assert page.status_code == 200
            assert not any(id_ in page.text for id_ in ids)


async def test_the_page_stays_up_with_a_wrong_token_and_no_secret_is_written(
    tmp_path: Path,
) -> None:
    async with FakeSlack() as slack:
        settings = {**slack_environment(slack, "socket"), "SLACK_APP_TOKEN": "xapp-wrong"}
        secrets = (slack.state.app.bot_token, "xapp-wrong")
        async with running_server(Home(tmp_path, settings), secrets) as run:
            await run.says("Slack: not started. SLACK_APP_TOKEN")
            assert await run.page_is_up()
