"""Ephemeral replies reach the user by whichever route works."""

from dataclasses import replace

import pytest

from bot.commands import round_delivery
from bot.commands.round_delivery import READY
from tests.bot.slack.in_process import RunningSlack, make_fake_slack, run_slack, text_of
from tests.wire.slack import BOT, FakeSlack, Refuse, Slow, find_mentions
from tests.wire.slack.server import RESPONSE_URL


async def pressed(slack: FakeSlack, bot: RunningSlack, action: str) -> None:
    root = await bot.ask()
    bot.release_models()
    await bot.wait_until_delivered()
    await slack.click(root, action, "U1")


async def test_an_expired_trigger_of_a_button_is_explained() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        slack.trouble("views.open", Refuse("expired_trigger_id"))

        await pressed(slack, bot, "council:answers")

        await slack.until(lambda: any("once more" in text_of(m) for m in slack.ephemerals("U1")))
        told = " ".join(map(text_of, slack.ephemerals("U1")))
        assert "trigger" not in told


async def test_an_expired_trigger_of_a_command_is_explained() -> None:
    async with make_fake_slack() as slack, run_slack(slack):
        slack.trouble("views.open", Refuse("expired_trigger_id"))

        await slack.command("U1", "C1", "/council", "ask")

        await slack.until(lambda: any("once more" in text_of(m) for m in slack.ephemerals("U1")))


async def test_a_refused_ephemeral_is_sent_by_response_url() -> None:
    async with make_fake_slack() as slack, run_slack(slack):
        slack.trouble("users.info", Slow(2.2))  # so that the acknowledgement goes first

        await slack.command("U2", "C2", "/council", "Which queue?")

        await slack.until(lambda: any("/invite" in text_of(m) for m in slack.ephemerals("U2")))
        assert [call.outcome for call in slack.calls if call.method == RESPONSE_URL] == ["ok"]


async def test_a_used_up_response_url_falls_back_to_a_direct_message() -> None:
    async with make_fake_slack() as slack, run_slack(slack):
        slack.state.rules = replace(slack.state.rules, hook_uses=0)
        slack.trouble("users.info", Slow(2.2))

        await slack.command("U2", "C2", "/council", "Which queue?")

        await slack.until(lambda: any("/invite" in text_of(m) for m in slack.direct("U2")))


async def test_an_ephemeral_whose_blocks_are_refused_is_sent_as_text() -> None:
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        root = await bot.ask()
        bot.release_models()
        await bot.wait_until_delivered()
        slack.refuse_blocks("rich_text", "context")

        await slack.click(root, "council:feedback", "U1", "positive")

        await slack.until(lambda: any("Noted" in m.text for m in slack.ephemerals("U1")))


async def test_a_round_that_took_long_mentions_its_asker_once_in_a_new_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(round_delivery, "MENTION_SECONDS", 0.0)
    async with make_fake_slack() as slack, run_slack(slack) as bot:
        bot.release_models()
        root = await bot.ask()
        await bot.wait_until_delivered()
        asked = (await slack.mention("U1", "C1", f"<@{BOT}> Which queue?")).message
        assert asked
        await slack.until(lambda: len(slack.thread("C1", asked.ts)) == 2)
        answer, others = slack.thread("C1", asked.ts)
        (results,) = slack.thread("C1", root.ts)

        mentioning = [READY in text_of(one) for one in (root, results, answer, others)]
        assert mentioning == [False, True, False, True]
        assert len(slack.pings()) == len(find_mentions(results.arguments)) * 2
        assert all("U1" in ping for ping in slack.pings())
