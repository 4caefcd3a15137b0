"""`/council …`: what the asker sees, what the channel sees, and how errors are shown."""

import pytest

from tests.bot.homes import SERVED
from tests.bot.slack.story import Stage, text_of
from tests.wire.models import Say, by_role

pytestmark = pytest.mark.asyncio(loop_scope="package")

SAID = {
    "help": "see the panels, or pick one for this channel",
    "panel": "house (in use)",
    "panel served": "Questions here go to panel served now",
    "show 12ab": "There is no round '12ab' here",
    "budget": "Everybody, this month",
    "cancel last": "No round of yours is running here.",
    "forget 12ab": "There is no round '12ab' here",
    "ask help": "Asking ",
    "panel:nope Why?": "There is no panel 'nope'",
    "method:nope Why?": "“nope” does not fit method",
    "": "ask the council",
    "x" * 20_001: "at most 20,000 can be asked",
    "leaderbord": "looks like a command",
}


async def test_the_asker_sees_the_panel_the_cost_and_the_duration_at_once(
    stage: Stage,
) -> None:
    channel = stage.add_channel()

    deed = await stage.slack.command("U1", channel, "/council", "panel:served Which queue?")

    assert deed.message
    assert deed.message.ephemeral_to == "U1"
    told = text_of(deed.message)
    assert "Asking Up, Down and Left" in told
    assert "Your text goes to this machine" in told
    assert "Cost unknown for Up, Down and Left" in told
    assert "It takes 5 min at most" in told or "It usually takes about" in told
    await stage.wait_for_answer(channel)


async def test_the_channel_sees_the_question_and_then_the_answer_in_the_same_message(
    stage: Stage,
) -> None:
    channel = stage.add_channel()

    answer = await stage.ask(channel, "Which queue?")

    (root,) = stage.slack.messages(channel)
    assert root is answer
    kinds = [block["type"] for block in root.blocks]
    read = text_of(root)
    assert kinds[0] == "header"
    assert read.index("Which queue?") < read.index("3 of 3 answered") < read.index("Asked by ada")
    assert "written by AI, check what matters" in read
    assert all(
        f"council:{name}" in str(root.blocks)
        for name in ("answers", "ballots", "again", "export", "feedback")
    )


async def test_the_thread_reveals_in_order_who_wrote_what_the_ballots_each_answer_and_a_file(
    stage: Stage,
) -> None:
    channel = stage.add_channel()
    root = await stage.ask(channel)

    thread = await stage.wait_for_thread(root)

    titles = [text_of(message) for message in thread]
    assert "Who wrote what, and how they were ranked" in titles[0]
    assert "Ballots" in titles[1]
    assert titles[1].count(" and ranked ") == 3
    assert all(title.startswith("Response ") and ", by " in title for title in titles[2:5])
    assert len(titles) == 6
    (file,) = [file for file in stage.slack.files if (channel, thread[-1].ts) in file.shared_in]
    assert file.name.endswith(".md")
    assert file.content
    assert "Which queue?" in file.content.decode()


@pytest.mark.parametrize("text", SAID)
async def test_every_command_is_answered_at_once_and_only_to_its_user(
    stage: Stage, text: str
) -> None:
    channel = stage.add_channel()

    deed = await stage.slack.command("U1", channel, "/council", text)

    assert deed.message
    assert SAID[text] in text_of(deed.message)
    assert deed.message.ephemeral_to == "U1"
    if not text.startswith("ask "):
        assert not stage.bot_messages(channel)


async def test_a_running_round_shows_its_steps_and_can_be_cancelled(stage: Stage) -> None:
    channel = stage.add_channel()
    slow = by_role(answer=lambda _: Say("Use the one you have.", seconds=0.3))

    with stage.scripted(dict.fromkeys(SERVED, slow)):
        await stage.slack.command("U1", channel, "/council", "panel:served Which queue?")
        await stage.slack.until(lambda: stage.slack.messages(channel))
        (root,) = stage.slack.messages(channel)
        first, buttons = text_of(root), str(root.blocks)
        assert await stage.wait_for_answer(channel) is root

    assert "Which queue?" in first
    assert all(f"{name.title()} answers" in first for name in SERVED)
    assert "council:cancel" in buttons
    assert "council:cancel" not in str(root.blocks)
