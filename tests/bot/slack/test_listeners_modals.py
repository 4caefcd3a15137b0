"""The modal to ask in: from a message shortcut, a global shortcut, and `/council ask`."""

import json

import pytest

from bot.chat import Asker, IncomingMessage
from bot.commands.forms import Form, SelectField, named_options
from bot.slack import listeners, modals
from council.places import Place
from tests.bot.slack.story import Stage, text_of
from tests.wire.slack import BOT, Channel, Message, View
from tests.wire.slack.checks import find_view_faults
from tests.wire.slack.fields import elements_in

HOSTILE = "*<!everyone>* <@U1> `a` & <http://x.test|x>"
pytestmark = pytest.mark.asyncio(loop_scope="package")

ABOUT, ANYWHERE = "ask_about_message", "ask_the_council"


def _offers(view: View, field: str) -> dict[str, str]:
    found = next(one for _, one in elements_in(view.payload["blocks"]) if one["action_id"] == field)
    return {one["value"]: one["text"]["text"] for one in found["options"]}


async def _about(stage: Stage, message: Message, user: str) -> View:
    deed = await stage.slack.shortcut(user, ABOUT, message)
    assert deed.accepted
    await stage.slack.until(lambda: stage.slack.views(user))
    return stage.slack.views(user)[-1]


async def test_the_word_ask_without_a_question_opens_the_modal(stage: Stage) -> None:
    dora = stage.add_user()
    channel = stage.add_channel(dora)

    deed = await stage.slack.command(dora, channel, "/council", "ask")

    view = await stage.wait_for_modal(dora, "Ask the council")
    assert deed.message is None
    panels = _offers(view, "panel")
    assert panels.keys() == {"house", "served"}
    assert panels["house"] == "house: goes to scripted models"
    assert panels["served"].startswith("served: goes to 127.0.0.1:")
    assert list(_offers(view, "audience")) == ["here", "vote", "me"]
    assert '"file_input"' in json.dumps(view.payload["blocks"])
    await stage.slack.submit(view, {"question": "Which queue?", "panel": "served"}, dora)
    answer = await stage.wait_for_answer(channel)
    assert answer.thread_ts is None
    assert stage.ephemerals(dora, channel) == []
    assert stage.slack.views(dora) == []


async def test_mentions_in_the_form_have_no_names(stage: Stage) -> None:
    dora, ben = stage.add_user(), stage.add_user("ben")
    channel = stage.add_channel(dora)
    await stage.slack.command(dora, channel, "/council", "ask")
    view = await stage.wait_for_modal(dora, "Ask the council")

    typed = {"question": f"is <@{ben}> right?", "context": f"<@{ben}>: 1 &lt; 2, says ben"}
    await stage.slack.submit(view, typed, dora)

    answer = await stage.wait_for_answer(channel)
    assert stage.home.sql("SELECT question, context FROM round WHERE channel = ?", channel) == [
        ("is @Person 1 right?", "@Person 1: 1 &lt; 2, says Person 1")
    ]
    assert "is @ben right?" in text_of(answer)


async def test_a_message_is_asked_about_in_its_thread(stage: Stage) -> None:
    dora = stage.add_user()
    channel = stage.add_channel(dora)
    message = stage.slack.says("U2", channel, "<@U1>, is 1 &lt; 2 for a &lt;queue&gt;?")

    view = await _about(stage, message, dora)

    assert "@ada, is 1 < 2 for a <queue>?" in text_of(view)
    assert _offers(view, "audience")["here"] == "Everybody in this thread"
    await stage.slack.submit(view, {"question": "Is he right?"}, dora)
    answer = await stage.wait_for_answer(channel)
    assert answer.thread_ts == message.ts
    assert stage.home.sql("SELECT context FROM round WHERE channel = ?", channel) == [
        ("@Person 2, is 1 < 2 for a <queue>?",)
    ]
    assert "Person 1" not in text_of(answer)


async def test_a_question_about_the_councils_answer_includes_the_whole_answer(stage: Stage) -> None:
    dora = stage.add_user()
    channel = stage.add_channel(dora)
    answer = await stage.ask(channel, "Which queue is the last?")

    view = await _about(stage, answer, dora)

    assert "The question before: Which queue is the last?" in text_of(view)
    assert "The council's answer to it: " in text_of(view)


async def test_a_held_reveal_shows_the_answer_takes_votes_and_then_names(stage: Stage) -> None:
    dora, ewa = stage.add_user(), stage.add_user()
    channel = stage.add_channel(dora, ewa)
    await stage.slack.command(dora, channel, "/council", "ask")
    view = await stage.wait_for_modal(dora, "Ask the council")
    await stage.slack.submit(view, {"question": "Which queue?", "audience": "vote"}, dora)

    def held() -> list[Message]:
        return [m for m in stage.bot_messages(channel) if "Vote first" in str(m.blocks)]

    await stage.slack.until(held, 60)
    root = held()[0]
    assert "council:answers" not in str(root.blocks)
    await stage.slack.click(root, "council:vote", ewa)
    ballot = await stage.wait_for_modal(ewa, "is the best")
    await stage.slack.click(ballot, "council:best", ewa)
    await stage.slack.until(
        lambda: "your blind vote is for Response" in str(stage.slack.views(ewa))
    )
    await stage.slack.click(root, "council:reveal", ewa)
    await stage.slack.until(lambda: stage.ephemerals(ewa, channel))
    assert "Only the person who asked" in text_of(stage.ephemerals(ewa, channel)[-1])
    await stage.slack.click(root, "council:reveal", dora)

    answer = await stage.wait_for_answer(channel)
    await stage.wait_for_thread(answer)
    assert answer.ts == root.ts
    assert "Vote first" not in text_of(answer)
    rows = "SELECT blind FROM human_vote WHERE by = ?"
    assert stage.home.sql(rows, ewa) == [(1,)]


async def test_a_private_answer_arrives_as_a_direct_message_only(stage: Stage) -> None:
    dora = stage.add_user()
    channel = stage.add_channel(dora)
    message = stage.slack.says("U2", channel, "We need a queue.")

    view = await _about(stage, message, dora)
    await stage.slack.submit(view, {"question": "Do we?", "audience": "me"}, dora)

    own = stage.slack.workspace.im_with(dora).id
    await stage.wait_for_answer(own)
    assert not stage.bot_messages(channel)
    assert not stage.slack.ephemerals(dora)
    assert stage.round_ids(own)
    assert stage.slack.pings() == []


async def test_the_global_shortcut_asks_for_a_channel_or_a_private_answer(stage: Stage) -> None:
    dora = stage.add_user()
    channel = stage.add_channel(dora)
    await stage.slack.shortcut(dora, ANYWHERE)
    view = await stage.wait_for_modal(dora, "Ask the council")

    await stage.slack.submit(view, {"question": "Which queue for all?"}, dora)
    assert view.errors == {"channel": "Choose a channel, or get the answer privately."}
    await stage.slack.submit(view, {"question": "Which queue for all?", "channel": channel}, dora)

    await stage.wait_for_answer(channel)
    await stage.slack.shortcut(dora, ANYWHERE)
    again = await stage.wait_for_modal(dora, "Ask the council")
    await stage.slack.submit(again, {"question": "For me?", "audience": "me"}, dora)
    await stage.wait_for_answer(stage.slack.workspace.im_with(dora).id)


async def test_errors_are_shown_at_their_field_and_the_modal_keeps_its_input(
    stage: Stage,
) -> None:
    dora = stage.add_user()
    away = stage.slack.workspace.add_channel(Channel("C-AWAY", "away", members={dora}))
    await stage.slack.shortcut(dora, ANYWHERE)
    view = await stage.wait_for_modal(dora, "Ask the council")

    await stage.slack.submit(view, {"question": "Which queue?", "channel": away.id}, dora)
    assert view.errors == {
        "channel": "I am not in this channel. Type /invite and my name, then ask again."
    }
    await stage.slack.submit(view, {"question": "\u200b", "audience": "me"}, dora)

    assert list(view.errors) == ["question"]
    assert "The question is empty" in view.errors["question"]
    assert stage.slack.views(dora) == [view]
    away.members.add(BOT)
    await stage.slack.submit(view, {"question": "Which queue?", "channel": away.id}, dora)
    await stage.wait_for_answer(away.id)


async def test_a_modal_submitted_twice_is_asked_once(stage: Stage) -> None:
    dora = stage.add_user()
    channel = stage.add_channel(dora)
    await stage.slack.command(dora, channel, "/council", "ask")
    view = await stage.wait_for_modal(dora, "Ask the council")

    await stage.slack.submit(view, {"question": "Which queue?"}, dora)
    stage.slack.state.modals[dora].append(view)
    await stage.slack.submit(view, {"question": "Which queue?"}, dora)

    await stage.wait_for_answer(channel)
    assert len(stage.round_ids(channel)) == 1


async def test_in_a_conversation_of_others_the_council_says_where_to_ask(stage: Stage) -> None:
    two = stage.slack.workspace.add_channel(Channel("D0TWO", "two", "im", {"U1", "U2"}))

    reply = await stage.reply_to("U1", two.id, "Which queue?")

    assert "I am not in this conversation" in text_of(reply)
    assert not stage.round_ids(two.id)


async def test_files_of_the_form_come_with_the_question(stage: Stage) -> None:
    dora = stage.add_user()
    channel = stage.add_channel(dora)
    await stage.slack.command(dora, channel, "/council", "ask")
    view = await stage.wait_for_modal(dora, "Ask the council")
    files = {"a.txt": b"Alpha", "b.md": b"Beta"}

    await stage.slack.submit(view, {"question": "What do they say?", "files": files}, dora)

    await stage.wait_for_answer(channel)
    [(stored,)] = stage.home.sql("SELECT files FROM round WHERE channel = ?", channel)
    assert [one["text"] for one in json.loads(str(stored))] == ["Alpha", "Beta"]


async def test_a_file_that_cannot_be_read_is_an_error_in_the_form(stage: Stage) -> None:
    dora = stage.add_user()
    channel = stage.add_channel(dora)
    await stage.slack.command(dora, channel, "/council", "ask")
    view = await stage.wait_for_modal(dora, "Ask the council")

    await stage.slack.submit(view, {"question": "Why?", "files": {"a.bin": b"\0\1"}}, dora)

    assert "a.bin can't be read" in view.errors["files"]
    assert stage.round_ids(channel) == []


async def test_an_error_that_comes_after_slacks_limit_is_told_privately(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "SUBMIT_SECONDS", 0.0)
    dora = stage.add_user()
    channel = stage.add_channel(dora)
    await stage.slack.command(dora, channel, "/council", "ask")
    view = await stage.wait_for_modal(dora, "Ask the council")

    await stage.slack.submit(view, {"question": "Why?", "files": {"a.bin": b"\0\1"}}, dora)

    assert stage.slack.views(dora) == []
    await stage.wait_for_ephemeral(dora, channel, "a.bin can't be read")


async def test_a_modal_of_release_0_2_is_still_asked(stage: Stage) -> None:
    dora = stage.add_user()
    channel = stage.add_channel(dora)
    await stage.slack.command(dora, channel, "/council", "ask")
    view = await stage.wait_for_modal(dora, "Ask the council")
    blocks = view.payload["blocks"]
    view.payload["blocks"] = [one for one in blocks if one["block_id"] != "files"]

    await stage.slack.submit(view, {"question": "Which queue?"}, dora)

    await stage.wait_for_answer(channel)


async def test_of_101_panels_100_are_listed_and_the_form_says_so() -> None:
    names = [HOSTILE, *(f"p{number}" for number in range(100))]
    field = SelectField("panel", "Panel", named_options(names), initial="p99")
    message = IncomingMessage("", Asker("U1", "Ada"), Place("slack", "T1", "C1"), "k")

    view = modals.form_view(Form("Title", "Send", (field,)), "suite", "new", message)

    assert find_view_faults(view) == []
    [block] = view["blocks"]
    options = block["element"]["options"]
    assert len(options) == 100
    assert block["element"]["initial_option"]["value"] == "p99"
    assert "100 of 101 are listed" in block["hint"]["text"]
    assert HOSTILE in [one["value"] for one in options]
    assert "<!everyone>" not in str([one["text"]["text"] for one in options])
