"""Rate limits are respected, and then everything is posted once and in order."""

import asyncio
import time
from dataclasses import replace

from bot.chat import IncomingMessage, Note, Post, SentMessage
from bot.slack.client import EditRateLimiter, open_client
from bot.slack.messages import SlackChat
from bot.slack.workspace import CHAT, SlackLimits, Workspace
from council.places import Place
from tests.bot.slack.in_process import FAST_LIMITS, make_fake_slack, run_slack
from tests.wire.slack import BOT, TEAM, Rates

STORM_SECONDS = 2.0


async def test_a_storm_of_rate_limits_loses_and_duplicates_nothing() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        roots = [await bot.ask() for _ in range(3)]
        slack.storm("*", STORM_SECONDS)
        began = time.time()
        bot.release_models()

        await bot.wait_until_delivered()
        for root in roots:
            assert "council:answers" in str(root.blocks)
            bot.assert_thread_is_whole(root)
        assert bot.bot_messages() == roots
        assert all(float(m.ts) > began + STORM_SECONDS for m in slack.thread("C1", roots[0].ts))


async def test_no_progress_update_delays_an_answer() -> None:
    limiter, acquired = EditRateLimiter(), asyncio.Event()
    async with limiter.prioritize():
        acquiring = asyncio.create_task(limiter.acquire())
        acquiring.add_done_callback(lambda _: acquired.set())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not acquired.is_set()

    await acquiring


async def test_a_message_is_edited_at_most_every_three_seconds() -> None:
    limits = replace(FAST_LIMITS, edit_seconds=3_600.0)
    async with make_fake_slack() as slack, open_client(slack.api_url) as client:
        chat = SlackChat(Workspace(client, TEAM, BOT, limits=limits), _no_ephemerals)
        sent = SentMessage(Place(CHAT, TEAM, "C1"), "1.1")
        await chat.show_progress(sent, Post((Note("1 of 3 answered"),)))

        waiting = asyncio.create_task(chat.wait_for_edit_slot(sent))
        for _ in range(20):
            await asyncio.sleep(0)

        assert not waiting.done()
        waiting.cancel()
    assert SlackLimits().edit_seconds == 3.0


async def _no_ephemerals(_: IncomingMessage, __: Post) -> None:
    raise AssertionError


async def test_rounds_finish_at_slacks_own_rates() -> None:
    async with make_fake_slack(rates=Rates()) as slack, run_slack(slack, limits=FAST_LIMITS) as bot:
        roots = [await bot.ask(channel) for channel in ("C1", "G1")]
        bot.release_models()

        await bot.wait_until_delivered(60)
        for root in roots:
            bot.assert_thread_is_whole(root)
