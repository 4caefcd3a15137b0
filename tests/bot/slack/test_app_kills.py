"""The product continues where it was after a kill or a stop at any moment."""

import asyncio
import signal
from pathlib import Path

import pytest

from tests.bot.homes import TIMEOUT_SECONDS, Home
from tests.bot.slack.process import serve_slack
from tests.soak.slack import soak
from tests.wire.slack import FakeSlack, Rates, Rules, Slow


@pytest.mark.parametrize("kills", [1, pytest.param(8, marks=pytest.mark.nightly)])
async def test_kills_lose_nothing_and_duplicate_nothing(tmp_path: Path, kills: int) -> None:
    count = await soak(Home(tmp_path), kills, at_once=2, seed=3, life=1.0)

    assert len(count.kills) == kills
    assert count.asked == count.rounds == count.roots == count.answers == count.lasts
    assert count.wrong == 0, str(count)


async def test_a_stop_during_delivery_is_clean_and_the_next_start_continues(tmp_path: Path) -> None:
    rules = Rules(rates=Rates(off=True))
    async with FakeSlack(rules=rules) as slack:
        async with serve_slack(tmp_path, slack, fresh=True) as bot:
            slack.trouble("chat.postMessage", Slow(0.0))  # the root, as it is
            slack.trouble("chat.postMessage", Slow(300.0))  # done, but the reply does not arrive
            await slack.command("U1", "C1", "/council", "Which queue?")
            await slack.until(lambda: len(slack.called("chat.postMessage")) > 1)
            bot.process.send_signal(signal.SIGTERM)

            async with asyncio.timeout(TIMEOUT_SECONDS):
                assert await bot.process.wait() == 0
        async with serve_slack(tmp_path, slack, fresh=True) as bot:
            root = await bot.wait_for_answer("C1")
            thread = await bot.wait_for_thread("C1", root)

        keys = [str(message.metadata) for message in thread if message.metadata]
        assert len(keys) == 1
        assert len(slack.messages("C1")) == 1
