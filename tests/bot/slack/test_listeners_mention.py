"""`@Council …` in channels, in threads of people and of the council, and in direct messages."""

import pytest

from bot.commands.conversations import NEW_QUESTION, STARTED
from bot.commands.help import HELLO
from tests.bot.slack.story import Stage, text_of
from tests.wire.slack import BOT, Message

pytestmark = pytest.mark.asyncio(loop_scope="package")

ME = f"<@{BOT}>"
OFFERED = "Send this thread along with your question?"


async def _thread_of_people(stage: Stage, channel: str) -> Message:
    root = stage.slack.says("U2", channel, "We need a &lt;queue&gt; by Friday.")
    stage.slack.says("U1", channel, "All we run is Postgres.", root.ts)
    return root


async def _offered(stage: Stage, channel: str, question: str = "which one?") -> Message:
    await stage.slack.command("U1", channel, "/council", "panel served")
    root = await _thread_of_people(stage, channel)
    await stage.slack.mention("U1", channel, f"{ME} {question}", root.ts)
    return await stage.wait_for_ephemeral("U1", channel, OFFERED)


async def test_a_mention_in_a_channel_is_answered_in_its_thread(stage: Stage) -> None:
    channel = stage.add_channel()

    event = await stage.slack.mention("U1", channel, f"{ME} Which queue?")

    answer = await stage.wait_for_answer(channel)
    assert event.message
    assert answer.thread_ts == event.message.ts
    assert "Which queue?" not in text_of(answer)  # it stands above, in its asker's words
    assert stage.slack.messages(channel) == [event.message]
    thread = event.message.ts
    await stage.slack.until(lambda: len(stage.slack.thread(channel, thread)) == 2)
    assert "Rankings" in text_of(stage.slack.thread(channel, thread)[-1])
    assert stage.ephemerals("U1", channel) == []


async def test_commands_can_be_mentioned_too(stage: Stage) -> None:
    channel = stage.add_channel()
    root = stage.slack.says("U2", channel, "Hello")

    await stage.slack.mention("U1", channel, f"{ME} help")
    await stage.slack.mention("U1", channel, f"{ME}", root.ts)
    await stage.slack.mention("U1", channel, f"{ME}: budget", root.ts)

    await stage.wait_for_ephemeral("U1", channel, "Everybody, this month")
    await stage.slack.until(lambda: len(stage.ephemerals("U1", channel)) == 3)
    assert not stage.bot_messages(channel)


async def test_a_thread_is_shown_to_the_asker_before_it_is_sent(stage: Stage) -> None:
    channel = stage.add_channel()

    offer = await _offered(stage, channel)

    assert "ben: We need a <queue> by Friday." in text_of(offer)
    assert "ada: All we run is Postgres." in text_of(offer)
    assert "2 messages" in text_of(offer)
    assert "go to 127.0.0.1:" in text_of(offer)
    assert not stage.bot_messages(channel)
    assert not stage.round_ids(channel)


@pytest.mark.parametrize("is_sent", [True, False])
async def test_the_models_receive_what_was_shown_or_nothing_of_it(
    stage: Stage, *, is_sent: bool
) -> None:
    channel, question = stage.add_channel(), f"which one, {is_sent}?"
    offer = await _offered(stage, channel, question)

    await stage.slack.click(offer, f"council:{'with' if is_sent else 'without'}_thread", "U1")

    answer = await stage.wait_for_answer(channel)
    assert answer.thread_ts == offer.thread_ts
    assert offer not in stage.slack.ephemerals("U1")
    shown = "Person 1: We need a <queue> by Friday.\n\nPerson 2: All we run is Postgres."
    received = [asked.user for asked in stage.models.requests if question in asked.user]
    assert len(received) == 7
    assert all(("Friday" in text) is (shown in text) is is_sent for text in received)
    stored = stage.home.sql("SELECT context FROM round WHERE channel = ?", channel)
    assert stored == [(shown if is_sent else "",)]


async def test_a_changed_thread_is_shown_again_before_anything_is_sent(
    stage: Stage,
) -> None:
    channel = stage.add_channel()
    offer = await _offered(stage, channel)
    stage.slack.workspace.channels[channel].said[0].payload["text"] = "We need two queues."

    await stage.slack.click(offer, "council:with_thread", "U1")

    again = await stage.wait_for_ephemeral("U1", channel, "The thread has changed since")
    assert "ben: We need two queues." in text_of(again)
    assert not stage.round_ids(channel)
    await stage.slack.click(again, "council:with_thread", "U1")
    await stage.wait_for_answer(channel)
    ((context,),) = stage.home.sql("SELECT context FROM round WHERE channel = ?", channel)
    assert "We need two queues." in context


async def test_an_offer_pressed_twice_is_asked_once(stage: Stage) -> None:
    channel = stage.add_channel()
    offer = await _offered(stage, channel)

    await stage.slack.click(offer, "council:with_thread", "U1")
    await stage.slack.click(offer, "council:with_thread", "U1")
    await stage.slack.click(offer, "council:without_thread", "U1")

    await stage.wait_for_answer(channel)
    assert len(stage.round_ids(channel)) == len(stage.answers(channel)) == 1


async def test_nobody_else_can_press_an_offer(stage: Stage) -> None:
    channel = stage.add_channel()
    offer = await _offered(stage, channel)
    offer.ephemeral_to = "U2"  # as a forged press would have it

    await stage.slack.click(offer, "council:with_thread", "U2")

    await stage.wait_for_ephemeral("U2", channel, "Only the person who asked can use this button.")
    assert not stage.round_ids(channel)


async def test_messages_of_other_bots_in_a_thread_are_sent_too(stage: Stage) -> None:
    channel = stage.add_channel("UOTHERBOT")
    root = stage.slack.says("UOTHERBOT", channel, "ALERT disk full on db-1")
    root.payload |= {"bot_id": "B9", "bot_profile": {"name": "pager"}}

    await stage.slack.mention("U1", channel, f"{ME} what now?", root.ts)

    assert "pager: ALERT disk full on db-1" in text_of(
        await stage.wait_for_ephemeral("U1", channel, OFFERED)
    )


@pytest.mark.parametrize("begun", ["command", "mention"])
async def test_in_the_councils_own_thread_a_question_follows_up(stage: Stage, begun: str) -> None:
    channel = stage.add_channel()
    if begun == "command":
        first = await stage.ask(channel, "Which queue is first?")
    else:
        await stage.slack.mention("U1", channel, f"{ME} Which queue is first?")
        first = await stage.wait_for_answer(channel)
    said = (first.thread_ts or first.ts, text_of(first))

    await stage.slack.mention("U2", channel, f"{ME} And at ten times that?", said[0])
    second = await stage.wait_for_answer(channel, 2)
    await stage.slack.mention("U2", channel, f"{ME} Why?", said[0])
    third = await stage.wait_for_answer(channel, 3)

    assert second.thread_ts == third.thread_ts == said[0]
    _, (two,), (three,) = stage.home.sql(
        "SELECT context FROM round WHERE channel = ? ORDER BY asked_at", channel
    )
    assert "Which queue is first?" in two
    assert any(line in said[1] for line in two.split("The council's answer to it: ")[1:])
    assert "Which queue is first?" in three
    assert "And at ten times that?" in three


async def test_a_direct_message_is_answered_there_and_followed_up(stage: Stage) -> None:
    dora = stage.add_user()

    await stage.slack.direct_message(dora, "Which queue, between us?")

    channel = stage.slack.workspace.im_with(dora).id
    answer = await stage.wait_for_answer(channel)
    assert answer.thread_ts is None
    await stage.slack.direct_message(dora, f"{ME} And at night?", answer.ts)
    second = await stage.wait_for_answer(channel, 2)
    assert second.thread_ts == answer.ts
    _, (context,) = stage.home.sql(
        "SELECT context FROM round WHERE channel = ? ORDER BY asked_at", channel
    )
    assert "Which queue, between us?" in context
    assert stage.slack.pings() == []


async def test_direct_messages_remember_until_a_new_question(stage: Stage) -> None:
    dora = stage.add_user()
    await stage.slack.direct_message(dora, "Which queue, between us?")
    channel = stage.slack.workspace.im_with(dora).id
    answer = await stage.wait_for_answer(channel)

    await stage.slack.direct_message(dora, "And at night?")
    await stage.wait_for_answer(channel, 2)
    await stage.slack.click(answer, f"council:{NEW_QUESTION}", dora)
    direct = stage.slack.direct
    await stage.slack.until(lambda: any(STARTED in text_of(m) for m in direct(dora)))
    await stage.slack.direct_message(dora, "Which log?")
    await stage.wait_for_answer(channel, 3)

    (first,), (second,), (third,) = stage.home.sql(
        "SELECT context FROM round WHERE channel = ? ORDER BY asked_at", channel
    )
    assert (first, third) == ("", "")
    assert "Which queue, between us?" in second
    in_channel = await stage.ask(stage.add_channel())
    assert NEW_QUESTION not in str(in_channel.blocks)


async def test_messages_of_bots_and_edits_are_ignored(stage: Stage) -> None:
    channel = stage.add_channel("UOTHERBOT")
    robot = stage.slack.says("UOTHERBOT", channel, f"{ME} Which queue?")
    robot.payload["bot_id"] = "B9"
    asked = await stage.slack.mention("U1", channel, f"{ME} Which queue, please?")

    await stage.wait_for_answer(channel)
    inner = {**asked.payload["event"], "text": f"{ME} Which log?", "edited": {"user": "U1"}}
    edited = {**asked.payload, "event_id": "Ev-edit", "event": inner}
    by_bot = {**inner, "ts": robot.ts, "user": "UOTHERBOT", "bot_id": "B9", "text": robot.text}
    for payload in (edited, {**edited, "event_id": "Ev-bot", "event": by_bot}):
        await stage.slack.deliver_again(type(asked)("app_mention", payload), 0)
    await stage.slack.mention("U1", channel, f"{ME} help")
    await stage.wait_for_ephemeral("U1", channel, HELLO)
    assert len(stage.round_ids(channel)) == 1
