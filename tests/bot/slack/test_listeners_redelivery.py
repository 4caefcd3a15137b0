"""An event delivered a thousand times makes one round; hostile names and questions are harmless."""

import asyncio
from random import Random

import pytest

from bot.commands.help import HELLO
from tests.bot.slack.story import Stage, text_of
from tests.wire.slack import BOT, Event, User

pytestmark = pytest.mark.asyncio(loop_scope="package")

DELIVERIES = 1_000
AT_ONCE = 50
ME = f"<@{BOT}>"
LOUD = "<!channel> @here"
HOSTILE = (
    "<!channel> <!here> <!everyone> @channel @here <@U2> <#C1> <!subteam^S1> <!date^1^{date}|x> "
    "[click](https://evil.example/?q=1) ![x](https://evil.example/x.png) <https://evil.example|ok> "
    "&lt;!channel&gt; \u202e*bold* `code` | a | b |\n# Heading\n> Asked by boss"
)


async def _storm(stage: Stage, event: Event) -> None:
    attempts = [n % 4 for n in range(DELIVERIES - 1)]
    Random(7).shuffle(attempts)
    for at in range(0, len(attempts), AT_ONCE):
        batch = attempts[at : at + AT_ONCE]
        answers = await asyncio.gather(*[stage.slack.deliver_again(event, n) for n in batch])
        assert all(answer.accepted for answer in answers)


async def test_a_thousand_deliveries_are_one_round_and_one_answer(stage: Stage) -> None:
    channel = stage.add_channel()
    asked = await stage.slack.mention("U1", channel, f"{ME} Which queue of a thousand?")
    root = stage.slack.says("U2", channel, "We need a queue.")
    offered = await stage.slack.mention("U1", channel, f"{ME} which?", root.ts)
    helped = await stage.slack.mention("U1", channel, f"{ME} help")
    refused = await stage.slack.mention("U1", channel, f"{ME} panel:nope Which?")

    await _storm(stage, asked)
    await asyncio.gather(*[_storm_some(stage, event) for event in (offered, helped, refused)])

    answer = await stage.wait_for_answer(channel)
    delivered = "SELECT min(delivered) FROM round WHERE channel = ?"
    await stage.slack.until(lambda: stage.home.sql(delivered, channel) == [(1,)])
    assert len(stage.round_ids(channel)) == 1
    assert stage.answers(channel) == [answer]
    told = [text_of(message) for message in stage.ephemerals("U1", channel)]
    assert len(told) == 3
    for said in ("Send this thread along", HELLO, "no panel 'nope'"):
        assert sum(said in one for one in told) == 1


async def _storm_some(stage: Stage, event: Event) -> None:
    await asyncio.gather(*[stage.slack.deliver_again(event, n % 4) for n in range(30)])


async def test_hostile_names_and_questions_mention_nobody_and_forge_nothing(stage: Stage) -> None:
    loud = stage.slack.workspace.add_user(User("ULOUD", LOUD)).id
    channel = stage.add_channel(loud)
    stage.slack.workspace.channels[channel].name = LOUD

    root = await stage.ask(channel, HOSTILE, loud)
    await stage.wait_for_thread(root)
    stage.slack.says(loud, channel, HOSTILE, root.ts)
    people = stage.slack.says(loud, channel, HOSTILE)
    await stage.slack.mention("U1", channel, f"{ME} {HOSTILE}", people.ts)
    offer = await stage.wait_for_ephemeral("U1", channel, "Send this thread along")
    await stage.slack.click(offer, "council:with_thread", "U1")
    await stage.wait_for_answer(channel, 2)
    await stage.slack.command(loud, channel, "/council", "rounds")
    await stage.slack.command(loud, channel, "/council", f"panel:{HOSTILE.split()[0]} x")
    await stage.slack.shortcut(loud, "ask_about_message", people)
    await stage.wait_for_modal(loud, "Ask the council")
    await stage.slack.click(root, "council:answers", loud)
    await stage.wait_for_modal(loud, "North")

    assert stage.slack.pings() == []
    assert stage.slack.faults == []
    assert "evil.example/?q=1" in text_of(root)
    small_print = [block for block in root.blocks if block["type"] == "context"]
    assert "Asked by" in str(small_print)
    assert "boss" not in str(small_print)
