"""Bake-offs in a channel: proposal, progress, result, cancellation and recovery."""

import asyncio

from bot.bakeoffs.parts import bakeoff_stores
from tests.bot.bakeoffs.fakes import a_suite
from tests.bot.slack.in_process import RunningSlack, make_fake_slack, run_slack, text_of
from tests.builders import ASKED_AT
from tests.wire.slack import FakeSlack, Message


async def propose(bot: RunningSlack, words: str = "bakeoff sql cap:$1") -> Message:
    await bakeoff_stores(bot.app).suites.save(a_suite(2), "U1", ASKED_AT)
    bot.slack.workspace.users["U1"].is_admin = True
    await bot.slack.command("U1", "C1", "/council", words)
    await bot.slack.until(lambda: "Bake-off of sql" in ephemeral_text(bot.slack))
    return bot.slack.ephemerals("U1")[-1]


def ephemeral_text(slack: FakeSlack, user: str = "U1") -> str:
    return " ".join(map(text_of, slack.ephemerals(user)))


async def ended(bot: RunningSlack, channel: str = "C1") -> Message:
    await bot.slack.until(lambda: "2 of 2 questions" in root_text(bot, channel), 20)
    async with asyncio.timeout(10):
        while not (await bakeoff_stores(bot.app).bakeoffs.list_recent())[0].ending:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return bot.bot_messages(channel)[0]


def root_text(bot: RunningSlack, channel: str) -> str:
    return "".join(map(text_of, bot.bot_messages(channel)[:1]))


async def test_a_bakeoff_is_proposed_started_by_button_and_its_result_replaces_its_progress() -> (
    None
):
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        proposal = await propose(bot)
        assert "2 questions, each for" in text_of(proposal)
        assert bot.bot_messages() == []

        await slack.click(proposal, "council:bakeoff_start", "U1")
        await slack.until(lambda: bot.bot_messages())
        (root,) = bot.bot_messages()
        assert "0 of 2 questions" in text_of(root)
        assert "council:bakeoff_cancel" in str(root.blocks)
        bot.release_models()

        assert await ended(bot) is root
        assert "council:bakeoff_cancel" not in str(root.blocks)
        assert "Asked by" not in ephemeral_text(slack)
        thread = slack.thread("C1", root.ts)
        keys = [str(message.metadata) for message in thread if message.metadata]
        assert len(keys) == len(set(keys))
        assert slack.faults == []
        assert slack.pings() == []


async def test_buttons_cancel_and_resume_the_bakeoff_for_an_admin() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        await slack.click(await propose(bot), "council:bakeoff_start", "U1")
        await slack.until(lambda: bot.bot_messages())
        (root,) = bot.bot_messages()

        await slack.click(root, "council:bakeoff_cancel", "U2")
        await slack.until(lambda: "Only admins can" in ephemeral_text(slack, "U2"))
        await slack.click(root, "council:bakeoff_cancel", "U1")
        await slack.until(lambda: "It was cancelled." in root_text(bot, "C1"))
        assert "council:bakeoff_resume" in str(root.blocks)
        await slack.until(lambda: "is cancelled. 0 of 2 questions" in ephemeral_text(slack))
        bot.release_models()
        await slack.click(root, "council:bakeoff_resume", "U1")

        await ended(bot)
        assert slack.faults == []


async def test_a_restart_continues_in_the_same_message() -> None:
    async with make_fake_slack() as slack:
        async with run_slack(slack) as bot:
            await slack.click(await propose(bot), "council:bakeoff_start", "U1")
            await slack.until(lambda: bot.bot_messages())
            app = bot.app
        async with run_slack(slack, bot.gateway, app) as again:
            again.release_models()

            root = await ended(again)

            assert again.bot_messages() == [root]
            assert len(await app.store.list_summaries()) == 2


async def test_the_buttons_of_a_schedules_post_work_from_its_message() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        await bakeoff_stores(bot.app).suites.save(a_suite(2), "U1", ASKED_AT)
        slack.workspace.users["U1"].is_admin = True
        bot.release_models()
        await slack.command("U1", "C1", "/council", "schedule add nightly suite:sql every hour")
        await slack.until(lambda: "Schedule nightly" in ephemeral_text(slack))
        await slack.command("U1", "C1", "/council", "run now")
        await slack.until(lambda: "Run nightly now?" in ephemeral_text(slack))
        assert bot.bot_messages() == []
        await slack.click(slack.ephemerals("U1")[-1], "council:schedule_run_now", "U1")
        root = await ended(bot)
        await slack.until(lambda: "nightly: results" in text_of(root))
        assert "Next run: " in text_of(root)

        await slack.click(root, "council:schedule_subscribe", "U2")
        await slack.until(lambda: "You are mentioned when" in ephemeral_text(slack, "U2"))
        await slack.click(slack.ephemerals("U2")[-1], "council:schedule_unsubscribe", "U2")
        await slack.until(lambda: "no longer mentioned" in ephemeral_text(slack, "U2"))
        await slack.click(root, "council:schedule_pause", "U2")
        await slack.until(lambda: "Only admins can pause" in ephemeral_text(slack, "U2"))
        await slack.click(root, "council:schedule_pause", "U1")
        await slack.until(lambda: "Schedule nightly is paused." in ephemeral_text(slack))
        (one,) = await bakeoff_stores(bot.app).schedules.list_all()
        assert (one.paused, one.subscribers) == (True, ())

        await slack.click(root, "council:bakeoff_results", "U2")
        await slack.until(lambda: "Points" in str(slack.views("U2")))
        await slack.click(root, "council:bakeoff_questions", "U2")
        await slack.until(lambda: "Question 2?" in str(slack.views("U2")))
        await slack.click(slack.views("U2")[-1], "council:round", "U2")
        await slack.until(lambda: "The council says yes." in str(slack.views("U2")))
        assert bot.bot_messages() == [root]
        assert slack.faults == []
        assert slack.pings() == []
