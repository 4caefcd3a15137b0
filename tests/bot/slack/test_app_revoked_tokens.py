"""A revoked token delays messages; an uninstalled app deletes its rounds."""

from pathlib import Path

from tests.bot.homes import Home, scripted_config
from tests.bot.slack.in_process import make_fake_slack, run_slack
from tests.bot.slack.story import Stage, run_in_process
from tests.fakes.gateway import BlockedGateway
from tests.wire.models import ModelServer
from tests.wire.slack import FakeSlack, Rates, Rules


async def test_messages_held_back_by_a_revoked_token_are_sent_with_a_new_one() -> None:
    gateway = BlockedGateway()
    async with make_fake_slack() as slack:
        token = slack.state.tokens[slack.state.app.bot_token]
        async with run_slack(slack, gateway) as bot:
            app_context, root = bot.app, await bot.ask()
            token.trouble = "token_revoked"
            bot.release_models()
            await slack.until(lambda: any(c.outcome == "token_revoked" for c in slack.calls))
            assert "council:answers" not in str(root.blocks)
        token.trouble = None

        async with run_slack(slack, gateway, app_context) as bot:
            await bot.assert_one_whole_round()
            assert bot.bot_messages() == [root]


async def test_an_uninstalled_app_deletes_its_rounds_and_posts_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path).with_config(scripted_config(4)).with_tables()
    reports: list[str] = []
    async with (
        FakeSlack(rules=Rules(rates=Rates(off=True))) as slack,
        ModelServer() as models,
        run_in_process(home, slack, reports.append),
    ):
        stage = Stage(home, slack, models)
        root = await stage.ask("C1", "Where is xylograph kept?")
        await stage.wait_for_thread(root)
        await slack.click(root, "council:feedback", "U1", "positive")
        await slack.until(lambda: slack.ephemerals("U1"))
        await slack.command("U1", "C1", "/council", "And xylograph two?")

        await slack.uninstalls()
        await slack.until(lambda: "was uninstalled" in reports[-1], 20)

        calls = len(slack.calls)
        assert b"xylograph" not in home.stored_bytes()
        rows = "SELECT count(*) FROM {}"
        for table in ("round", "outgoing", "feedback", "answer"):
            assert home.sql(rows.format(table)) == [(0,)]
        assert not home.sql("SELECT 1 FROM spending WHERE asker != ''")
    assert len(slack.calls) == calls
