"""A bake-off survives a kill of the process, and ends in the same message."""

from collections import Counter
from pathlib import Path

import pytest

from tests.bot.homes import SERVED, two_panels_config
from tests.bot.slack.process import RunningProduct, serve_slack
from tests.bot.slack.story import text_of
from tests.wire.models import ModelServer, Say, by_role, fences
from tests.wire.slack import FakeSlack, Message, Rates, Rules

QUESTIONS = 3
SUITE = f"[suites.small]\nquestions = {[f'What of {n}?' for n in range(1, QUESTIONS + 1)]}\n"
PER_ROUND = 2 * len(SERVED) + 1
AT_ONCE = 2


def ours(slack: FakeSlack) -> list[Message]:
    return [message for message in slack.messages("C1") if message.payload.get("bot_id")]


def result(slack: FakeSlack) -> str:
    return "".join(text_of(message) for message in ours(slack)[:1])


async def told(served: RunningProduct, slack: FakeSlack) -> list[Message]:
    await slack.until(lambda: f"{QUESTIONS} of {QUESTIONS} questions" in result(slack), 60)
    ended = "SELECT 1 FROM bakeoff WHERE ended_at IS NOT NULL"
    await slack.until(lambda: served.home.sql(ended), 60)
    return slack.thread("C1", ours(slack)[0].ts)


@pytest.mark.nightly
async def test_a_kill_repeats_no_question_and_no_message(tmp_path: Path) -> None:
    async with (
        ModelServer() as models,
        FakeSlack(rules=Rules(rates=Rates(off=True))) as slack,
    ):
        for name in SERVED:
            slowly = by_role(answer=lambda _: Say("Use the one you have.", seconds=0.2))
            models.script[name] = slowly
        council = two_panels_config(models.api_base, SUITE)
        async with serve_slack(tmp_path, slack, config=council, fresh=True) as served:
            await slack.command("UADMIN", "C1", "/council", "bakeoff small panel:served now")
            await slack.until(lambda: len(models.requests) >= PER_ROUND + 3, 60)
            await served.kill()

        async with serve_slack(tmp_path, slack, config=council, fresh=True) as served:
            thread = await told(served, slack)

        calls = Counter((one.model, one.user, bool(fences(one.user))) for one in models.requests)
        keys = [str(message.metadata) for message in thread if message.metadata]
        assert len(ours(slack)) == 1
        assert len(keys) == len(set(keys))
        assert len(models.requests) - len(calls) <= AT_ONCE * len(SERVED)
        assert len(calls) == QUESTIONS * PER_ROUND
        assert slack.faults == []
