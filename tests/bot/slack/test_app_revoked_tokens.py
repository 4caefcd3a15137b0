"""A revoked token delays messages; an uninstalled app deletes its rounds."""

import asyncio
from pathlib import Path

from tests.bot.slack.inside import BlockedGateway, make_fake_slack, run_slack
from tests.bot.slack.serving import serve_slack
from tests.wire.slack import FakeSlack, Rules


async def test_messages_held_back_by_a_revoked_token_are_sent_with_a_new_one() -> None:
    gateway = BlockedGateway()
    async with make_fake_slack() as slack:
        token = slack.state.tokens[slack.state.app.bot_token]
        async with run_slack(slack, gateway) as bot:
            app_context, root = bot.app, await bot.asks()
            token.trouble = "token_revoked"
            bot.go_on()
            await slack.until(lambda: any(c.outcome == "token_revoked" for c in slack.calls))
            calls = len(slack.calls)
            await asyncio.sleep(0.3)
            assert len(slack.calls) - calls < 5  # nobody goes on trying
            assert "council:answers" not in str(root.blocks)
        token.trouble = None

        async with run_slack(slack, gateway, app_context) as bot:
            await bot.is_one_whole_round()
            assert bot.ours() == [root]


async def test_an_uninstalled_app_deletes_its_rounds_and_posts_nothing(tmp_path: Path) -> None:
    async with FakeSlack(rules=Rules()) as slack, serve_slack(tmp_path, slack) as bot:
        await slack.command("U1", "C1", "/council", "Where is xylograph kept?")
        root = await bot.answered("C1")
        await bot.told("C1", root)
        await slack.click(root, "council:feedback", "U1", "positive")
        await slack.until(lambda: slack.ephemerals("U1")[1:])
        await slack.command("U1", "C1", "/council", "And xylograph two?")

        await slack.uninstalls()
        await slack.until(lambda: b"xylograph" not in bot.home.stored_bytes(), 20)
        calls = len(slack.calls)
        await asyncio.sleep(0.5)

        rows = "SELECT count(*) FROM {}"
        for table in ("round", "outgoing", "feedback", "answer"):
            assert bot.home.sql(rows.format(table)) == [(0,)]
        assert not bot.home.sql("SELECT 1 FROM spending WHERE asker != ''")
        assert len(slack.calls) == calls
        assert bot.process.returncode is None
