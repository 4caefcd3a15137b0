"""Suites: a file sent to the bot, a list, and a round's question added in a modal."""

import pytest

from tests.bot.slack.story import Stage, text_of
from tests.wire.slack import Message

pytestmark = pytest.mark.asyncio(loop_scope="package")

CSV = b"question,category,answer\nWhat is 6 x 7?,maths,42\nWhy?,,\n"


def direct(stage: Stage, user: str, said: str) -> list[Message]:
    return [message for message in stage.slack.direct(user) if said in text_of(message)]


async def test_a_file_sent_to_the_bot_is_shown_and_saved_with_a_button(stage: Stage) -> None:
    dora = stage.add_user()

    await stage.slack.direct_message(dora, "suite add sent", files={"sql.csv": CSV})
    await stage.slack.until(lambda: direct(stage, dora, "Keep suite sent?"), 15)
    (shown,) = direct(stage, dora, "Keep suite sent?")
    assert "2 questions, 1 with a reference answer." in text_of(shown)
    await stage.slack.click(shown, "council:keep_suite", dora)

    await stage.slack.until(lambda: direct(stage, dora, "Suite sent is kept"), 15)
    channel = stage.add_channel(dora)
    await stage.slack.command(dora, channel, "/council", "suite")
    await stage.wait_for_ephemeral(dora, channel, "sent")


async def test_a_rounds_question_is_added_in_a_modal(stage: Stage) -> None:
    channel = stage.add_channel()
    root = await stage.ask(channel, f"Which queue is it, in {channel}?")

    await stage.slack.click(root, "council:suite", "U2")
    view = await stage.wait_for_modal("U2", "Add to suite")
    empty = await stage.slack.submit(view, {"name": " "}, "U2")
    assert empty.payload
    assert "Choose a suite" in str(empty.payload["errors"])
    await stage.slack.submit(view, {"name": f"grown-{channel}", "answer": "42"}, "U2")

    name = f"grown-{channel}".lower()
    await stage.wait_for_ephemeral("U2", channel, f"The question is in suite {name} now")
    await stage.slack.click(root, "council:suite", "U1")
    again = await stage.wait_for_modal("U1", name)
    await stage.slack.submit(again, {"suite": name}, "U1")
    await stage.wait_for_ephemeral("U1", channel, f"Suite {name} asks this already.")
