"""Lost connections, server errors and slow replies: every message arrives once, in order."""

from dataclasses import replace

import pytest

from tests.bot.slack.in_process import FAST_LIMITS, make_fake_slack, run_slack
from tests.wire.faults import Fault
from tests.wire.slack import DropAfter, DropBefore, Fail, Refuse, Slow
from tests.wire.slack.state import SCOPES

AT_FAULT = (Fail(500), Fail(503), Refuse("internal_error"))
TIMEOUT_SECONDS = 1.5  # of a call; what is slow takes a little longer
IMPATIENT = replace(FAST_LIMITS, timeout_seconds=TIMEOUT_SECONDS, late_seconds=4.0)


@pytest.mark.parametrize(
    "troubles",
    [
        pytest.param((DropAfter(),) * 3, id="lost after the deed"),
        pytest.param((DropBefore(),) * 3, id="lost before it"),
        pytest.param(AT_FAULT, id="at fault"),
    ],
)
async def test_every_message_is_posted_once(troubles: tuple[Fault, ...]) -> None:
    one, other, third = troubles
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        slack.trouble("chat.postMessage", one)  # the root
        await bot.ask()
        slack.trouble("chat.postMessage", other)  # a reply
        slack.trouble("chat.postMessage", third)  # and again
        slack.trouble("chat.update", third)  # the answer
        bot.release_models()

        await bot.assert_one_whole_round()


@pytest.mark.parametrize("before", [False, True], ids=["done at once", "done late"])
async def test_a_call_that_timed_out_takes_effect_once(before: bool) -> None:
    slow = Slow(TIMEOUT_SECONDS + 0.1, before)
    async with make_fake_slack() as slack, run_slack(slack, limits=IMPATIENT) as bot:
        slack.trouble("chat.postMessage", slow)
        await bot.ask()
        slack.trouble("chat.postMessage", slow)
        slack.trouble("chat.update", slow)
        bot.release_models()

        await bot.assert_one_whole_round()


async def test_nothing_is_lost_without_the_scope_to_read_history() -> None:
    scopes = [scope for scope in SCOPES if not scope.endswith(":history")]
    async with make_fake_slack(scopes) as slack, run_slack(slack) as bot:
        root = await bot.ask()
        slack.trouble("chat.postMessage", DropBefore())
        slack.trouble("chat.update", DropAfter())
        bot.release_models()

        await bot.assert_one_whole_round()
        assert bot.bot_messages() == [root]


async def test_a_late_progress_update_does_not_replace_the_answer() -> None:
    async with make_fake_slack() as slack, run_slack(slack, limits=IMPATIENT) as bot:
        slack.trouble("chat.update", Slow(3.0, before=True))
        root = await bot.ask()
        await slack.until(lambda: slack.called("chat.update"), 30)
        bot.release_models()

        await bot.wait_until_delivered()
        assert "council:answers" in str(root.blocks)
        assert len(slack.called("chat.update")) == 3
