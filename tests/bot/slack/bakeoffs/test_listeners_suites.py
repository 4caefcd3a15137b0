"""Suites: a file sent to the bot, a list, and a round's question added in a modal."""

import pytest

from tests.bot.slack.story import Stage, in_menu, text_of
from tests.wire.slack import Message

pytestmark = pytest.mark.asyncio(loop_scope="package")

CSV = b"question,category,answer\nWhat is 6 x 7?,maths,42\nWhy?,,\n"


def direct(stage: Stage, user: str, said: str) -> list[Message]:
    return [message for message in stage.slack.direct(user) if said in text_of(message)]


async def test_a_file_sent_to_the_bot_is_shown_and_saved_with_a_button(stage: Stage) -> None:
    dora = stage.add_user(is_admin=True)

    await stage.slack.direct_message(dora, "suite add sent", files={"sql.csv": CSV})
    await stage.slack.until(lambda: direct(stage, dora, "Save suite sent?"), 15)
    (shown,) = direct(stage, dora, "Save suite sent?")
    assert "2 questions, 1 with a reference answer." in text_of(shown)
    await stage.slack.click(shown, "council:keep_suite", dora)

    await stage.slack.until(lambda: direct(stage, dora, "Suite sent is saved"), 15)
    channel = stage.add_channel(dora)
    await stage.slack.command(dora, channel, "/council", "suite")
    await stage.wait_for_ephemeral(dora, channel, "sent")


async def test_a_rounds_question_is_added_in_a_modal(stage: Stage) -> None:
    cleo, dora = (stage.add_user(name, is_admin=True) for name in ("cleo", "dora"))
    channel = stage.add_channel(cleo, dora)
    root = await stage.ask(channel, f"Which queue is it, in {channel}?")

    await stage.slack.click(root, "council:more", dora, in_menu(root, "suite"))
    view = await stage.wait_for_modal(dora, "Add to suite")
    empty = await stage.slack.submit(view, {"name": " "}, dora)
    assert empty.payload
    assert "Choose a suite" in str(empty.payload["errors"])
    await stage.slack.submit(view, {"name": f"grown-{channel}", "answer": "42"}, dora)

    name = f"grown-{channel}".lower()
    await stage.wait_for_ephemeral(dora, channel, f"The question is now in suite {name}")
    await stage.slack.click(root, "council:more", cleo, in_menu(root, "suite"))
    again = await stage.wait_for_modal(cleo, name)
    await stage.slack.submit(again, {"suite": name}, cleo)
    assert again.errors == {"suite": f"Suite {name} already has this question."}


async def test_a_plain_member_changes_no_suite(stage: Stage) -> None:
    channel = stage.add_channel()
    root = await stage.ask(channel, f"Which queue is it, in {channel}?")

    await stage.slack.click(root, "council:more", "U2", in_menu(root, "suite"))

    await stage.wait_for_ephemeral("U2", channel, "Only admins can")
