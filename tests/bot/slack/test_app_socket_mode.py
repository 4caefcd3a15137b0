"""Socket Mode connections that break lose no acknowledged event and duplicate none."""

from dataclasses import replace

import pytest

from tests.bot.slack.in_process import FAST_LIMITS, RunningSlack, make_fake_slack, run_slack
from tests.wire.slack import BOT, FakeSlack, Slow

LIMITS = replace(FAST_LIMITS, ping_seconds=0.5)  # the wait before a socket is opened again


async def assert_one_round_is_answered(slack: FakeSlack, bot: RunningSlack) -> None:
    await slack.connected(seconds=20)
    event = await slack.mention("U1", "C1", f"<@{BOT}> Which queue?")
    while not event.accepted:
        await slack.deliver_again(event)
    assert event.message
    bot.release_models()
    await slack.until(lambda: slack.thread("C1", event.message.ts if event.message else ""))
    await bot.wait_until_delivered()
    assert len(await bot.app.store.list_summaries()) == 1


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "link_disabled", ""])
async def test_a_socket_that_ends_announced_or_not_loses_nothing(reason: str) -> None:
    async with make_fake_slack() as slack, run_slack(slack, limits=LIMITS) as bot:
        if reason:
            await slack.links.say_disconnect(reason)
        else:
            slack.links.cut()
        await slack.until(lambda: slack.links.opened > 1)

        await assert_one_round_is_answered(slack, bot)


async def test_an_expired_socket_url_is_replaced() -> None:
    async with make_fake_slack() as slack, run_slack(slack, limits=LIMITS) as bot:
        asked = len(slack.called("apps.connections.open"))
        slack.trouble("apps.connections.open", Slow(0.3))
        slack.links.cut()
        await slack.until(lambda: len(slack.called("apps.connections.open")) > asked)
        await slack.until(lambda: slack.state.tickets)
        slack.state.tickets.clear()

        await assert_one_round_is_answered(slack, bot)


async def test_an_event_redelivered_over_a_new_socket_makes_one_round() -> None:
    async with make_fake_slack() as slack, run_slack(slack, limits=LIMITS) as bot:
        event = await slack.mention("U1", "C1", f"<@{BOT}> Which queue?")
        await slack.links.say_disconnect("refresh_requested")
        await slack.until(lambda: slack.links.opened > 1 and slack.links.open)
        for attempt in (1, 2, 3):
            await slack.deliver_again(event, attempt)
        bot.release_models()

        await bot.wait_until_delivered()
        assert len(await bot.app.store.list_summaries()) == 1
        assert event.message
        thread = slack.thread("C1", event.message.ts)
        assert sum("council:answers" in str(message.blocks) for message in thread) == 1


async def test_an_event_is_acknowledged_after_its_round_is_stored() -> None:
    async with make_fake_slack() as slack, run_slack(slack, limits=LIMITS) as bot:
        slack.state.rules = replace(slack.state.rules, ack_seconds=0.2, retry_delays=())
        slack.trouble("users.info", Slow(1.0))

        event = await slack.mention("U1", "C1", f"<@{BOT}> Which queue?")
        again = await slack.deliver_again(event)
        assert event.acknowledgements[0].timed_out
        assert again.timed_out
        assert not await bot.app.store.list_summaries()
        while not event.accepted:
            await slack.deliver_again(event)

        assert len(await bot.app.store.list_summaries()) == 1
