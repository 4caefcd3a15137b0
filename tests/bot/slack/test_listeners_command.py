"""`/council …`: what the asker sees, what the channel sees, and how errors are shown."""

import pytest

from bot.commands.help import HELLO
from bot.commands.rounds import NOTHING_RUNNING
from bot.render.round_report.thread import DISCLAIMER
from tests.bot.homes import SERVED
from tests.bot.slack.story import Stage, in_menu, text_of
from tests.wire.models import Hang, Say, by_role
from tests.wire.slack import BOT

pytestmark = pytest.mark.asyncio(loop_scope="package")

SAID = {
    "help": HELLO,
    "all commands": "see the panels, or pick one for this channel",
    "panel": "house (in use)",
    "panel served": "Questions here now go to panel",
    "show 12ab": "There is no round '12ab' here",
    "budget": "Everybody, this month",
    "cancel last": NOTHING_RUNNING,
    "stop": NOTHING_RUNNING,
    "good bot": "so the council was not asked",
    "forget 12ab": "There is no round '12ab' here",
    "ask help": "looks like a command",
    "panel:nope Why?": "There is no panel 'nope'",
    "method:nope Why?": "There is no method 'nope'",
    "": HELLO,
    "x" * 20_001: "the limit is 20,000",
    "ronds": "looks like a command",
}


async def test_the_progress_has_the_receiver_the_cost_and_the_duration_and_no_receipt_stays(
    stage: Stage,
) -> None:
    channel = stage.add_channel()

    stage.models.script |= {name: by_role(answer=lambda _: Hang()) for name in SERVED}
    deed = await stage.slack.command("U1", channel, "/council", "panel:served Which queue?")
    await stage.slack.until(lambda: stage.bot_messages(channel))
    (progress,) = stage.bot_messages(channel)
    told = text_of(progress)
    stage.models.script.clear()

    assert deed.message is None
    assert stage.ephemerals("U1", channel) == []
    assert "Sent to 127.0.0.1:" in told
    assert "Cost unknown for Up, Down and Left" in told
    assert "It takes 5 min at most" in told or "It usually takes about" in told
    await stage.slack.click(progress, "council:cancel", "U1")


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
    assert read.index("Which queue?") < read.index(DISCLAIMER) < read.index("Asked by ada")
    shown = str(root.blocks)
    assert all(f"council:{name}" in shown for name in ("answers", "ballots", "more", "feedback"))
    assert all(in_menu(root, action) for action in ("again", "export", "forget"))


async def test_the_thread_has_the_results_and_then_the_rankings(stage: Stage) -> None:
    channel = stage.add_channel()
    root = await stage.ask(channel)

    thread = await stage.wait_for_thread(root)

    (reply,) = map(text_of, thread)
    assert reply.index("Results") < reply.index("Rankings")
    assert reply.count(" > ") == 3
    assert not [file for file in stage.slack.files if (channel, root.ts) in file.shared_in]


async def test_in_somebodys_thread_a_round_is_one_message_with_its_results(stage: Stage) -> None:
    channel = stage.add_channel()

    somebodys = stage.slack.says("U2", channel, "We need a queue.")
    await stage.slack.mention("U1", channel, f"<@{BOT}> Which queue?", somebodys.ts)
    offer = await stage.wait_for_ephemeral("U1", channel, "Send this thread along")
    await stage.slack.click(offer, "council:without_thread", "U1")
    answer = await stage.wait_for_answer(channel)
    delivered = "SELECT min(delivered) FROM round WHERE channel = ?"
    await stage.slack.until(lambda: stage.home.sql(delivered, channel) == [(1,)])

    assert stage.bot_messages(channel) == [answer]
    assert text_of(answer).count(" points") == 4  # the line under it, and each model's


@pytest.mark.parametrize("text", SAID)
async def test_every_command_is_answered_at_once_and_only_to_its_user(
    stage: Stage, text: str
) -> None:
    channel = stage.add_channel()

    assert SAID[text] in text_of(await stage.reply_to("U1", channel, text))
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
