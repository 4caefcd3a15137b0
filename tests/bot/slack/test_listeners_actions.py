"""Buttons under a round: who may press them, how often, and what they do."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.bot.homes import SERVED, Home, two_panels_config
from tests.bot.slack.story import Stage, in_menu, run_in_process, text_of
from tests.wire.models import Behaviour, ModelServer, Say, answer, by_role, fences
from tests.wire.slack import BOT, Event, FakeSlack, Message, Rates, Rules, UserAction
from tests.wire.slack.state import File

pytestmark = pytest.mark.asyncio(loop_scope="package")

RATED = "SELECT helpful, reason FROM feedback WHERE round_id = ? AND by = ?"


def _slow(seconds: float) -> Behaviour:
    return by_role(answer=lambda _: Say("Use the one you have.", seconds=seconds))


async def _press(stage: Stage, on: Message, action: str, user: str = "U1") -> UserAction:
    deed = await stage.slack.click(on, f"council:{action}", user)
    assert deed.accepted
    return deed


async def _running(stage: Stage, channel: str) -> Message:
    """Ask the served panel, of which one answers at once and two do not."""
    stage.models.script |= {"up": _slow(0), "down": _slow(60), "left": _slow(60)}
    await stage.slack.command("U1", channel, "/council", "panel:served Which queue, slowly?")
    held = "SELECT member FROM answer JOIN round ON round.id = round_id WHERE channel = ?"
    await stage.slack.until(lambda: stage.home.sql(held, channel), 15)
    return stage.slack.messages(channel)[0]


def _root(stage: Stage, channel: str) -> str:
    return "".join(text_of(message) for message in stage.slack.messages(channel)[:1])


async def test_answers_and_ballots_open_at_once_and_then_fill(stage: Stage) -> None:
    channel = stage.add_channel()
    root = await stage.ask(channel)

    await _press(stage, root, "answers", "U2")
    answers = text_of(await stage.wait_for_modal("U2", "North"))
    assert all(name in answers for name in ("North", "South", "East"))
    await _press(stage, root, "ballots", "U2")
    rankings = await stage.wait_for_modal("U2", " saw ")

    assert text_of(rankings).count(" > ") == 3
    first = stage.slack.called("views.open")[-1].arguments["view"]
    assert "One moment" in str(first)


async def test_long_answers_have_pages_to_turn(stage: Stage) -> None:
    dora = stage.add_user()
    channel = stage.add_channel(dora)
    texts = {name: f"Beginning by {name}. " + f"{'w' * 99} " * 200 for name in SERVED}
    short = answer("In short.")
    with stage.scripted({name: by_role(answer(texts[name]), chairman=short) for name in SERVED}):
        root = await stage.ask(channel, "panel:served How long?", dora)
    await _press(stage, root, "answers", dora)
    view = await stage.wait_for_modal(dora, "Next (2 of ")
    begun = text_of(view)

    await asyncio.gather(*[stage.slack.click(view, "council:page:1", dora) for _ in range(2)])

    await stage.wait_for_modal(dora, "Previous (1 of ")
    assert text_of(view) != begun
    await stage.slack.click(view, "council:page:0", dora)
    await stage.slack.until(lambda: text_of(view) == begun)
    assert not [m for m in stage.ephemerals(dora, channel) if "refused" in text_of(m)]


async def test_run_again_pressed_twice_makes_one_new_round_of_the_presser(stage: Stage) -> None:
    channel = stage.add_channel()
    root = await stage.ask(channel, "Which queue again?")

    again = in_menu(root, "again")
    await stage.slack.click(root, "council:more", "U2", again)
    question = await stage.wait_for_ephemeral("U2", channel, "Run again?")
    await asyncio.gather(*[_press(stage, question, "yes_again", "U2") for _ in range(2)])

    second = await stage.wait_for_answer(channel, 2)
    assert "Which queue again?" in text_of(second)
    assert "Asked by ben" in text_of(second)
    await stage.wait_for_ephemeral("U2", channel, "That has already started.")
    assert len(stage.round_ids(channel)) == 2


async def test_only_the_asker_can_cancel_and_resume_and_no_answer_is_repeated(
    stage: Stage,
) -> None:
    channel = stage.add_channel()
    stage.models.requests.clear()
    root = await _running(stage, channel)

    await _press(stage, root, "cancel", "U2")
    await stage.wait_for_ephemeral("U2", channel, "Only the person who asked can cancel a round.")
    await asyncio.gather(*[_press(stage, root, "cancel") for _ in range(2)])
    await stage.slack.until(lambda: "Cancelled. Saved so far: 1 answer." in _root(stage, channel))
    await stage.wait_for_ephemeral("U1", channel, "1 of 3 answers is saved")
    assert "council:cancel" not in str(root.blocks)
    await _press(stage, root, "resume", "U2")
    await stage.wait_for_ephemeral("U2", channel, "Only the person who asked can resume a round.")
    stage.models.script.clear()
    await asyncio.gather(*[_press(stage, root, "resume") for _ in range(2)])

    assert await stage.wait_for_answer(channel) is root
    asked = [one.model for one in stage.models.requests if not fences(one.user)]
    assert sorted(asked) == ["down", "down", "left", "left", "up"]
    assert len(stage.round_ids(channel)) == 1


async def test_an_export_reaches_only_the_person_who_pressed_and_never_a_guest(
    stage: Stage,
) -> None:
    dora, guest = stage.add_user(), stage.add_user("gil", is_guest=True)
    channel = stage.add_channel(dora, guest)
    root = await stage.ask(channel, "Which queue to export?")
    export = in_menu(root, "export")
    (id_,) = stage.round_ids(channel)

    def files() -> list[File]:
        return [file for file in stage.slack.files if file.name == f"council-{id_}.json"]

    await stage.slack.click(root, "council:more", guest, export)
    await stage.wait_for_ephemeral(guest, channel, "Ask a member to ask for you")
    assert files() == []
    await stage.slack.click(root, "council:more", dora, export)
    await stage.slack.until(files)

    (file,) = files()
    ((where, _),) = file.shared_in
    assert where == stage.slack.workspace.im_with(dora).id
    assert json.loads(file.content or b"")["question"] == "Which queue to export?"


async def test_forgetting_deletes_the_thread_and_blanks_the_answer(stage: Stage) -> None:
    channel = stage.add_channel()
    root = await stage.ask(channel, "Which queue to forget?")
    await stage.wait_for_thread(root)

    await stage.slack.click(root, "council:more", "U2", in_menu(root, "forget"))
    await stage.wait_for_ephemeral("U2", channel, "Only the person who asked")
    await stage.slack.command("U1", channel, "/council", "forget last")
    question = await stage.wait_for_ephemeral("U1", channel, "Which queue to forget?")
    await _press(stage, question, "yes_forget")
    await stage.slack.until(lambda: not stage.slack.thread(channel, root.ts))
    await stage.slack.until(lambda: "forgotten on" in text_of(root))

    assert "Which queue" not in text_of(root)
    assert "council:" not in str(root.blocks)


async def test_an_opinion_is_stored_with_its_reason_and_changed_by_a_second_press(
    stage: Stage,
) -> None:
    channel = stage.add_channel()
    root = await stage.ask(channel)
    (id_,) = stage.round_ids(channel)

    def rated() -> list[tuple[int, str]]:
        return stage.home.sql(RATED, id_, "U1")

    await stage.slack.click(root, "council:feedback", "U1", "negative")
    view = await stage.wait_for_modal("U1", "What was wrong or missing?")
    await stage.slack.until(lambda: rated() == [(0, "")])
    await stage.slack.submit(view, {"why": "It names no price."}, "U1")
    await stage.slack.until(lambda: rated() == [(0, "It names no price.")])
    await stage.slack.click(root, "council:feedback", "U1", "negative")
    again = await stage.wait_for_modal("U1", "It names no price.")
    await stage.slack.submit(again, {"why": "It names no price at all."}, "U1")
    await stage.slack.until(lambda: rated() == [(0, "It names no price at all.")])

    await stage.slack.click(root, "council:feedback", "U1", "positive")

    await stage.slack.until(lambda: rated() == [(1, "")])
    await stage.wait_for_ephemeral("U1", channel, "Noted, thank you.")


async def test_every_button_works_after_a_restart(tmp_path: Path) -> None:
    async with (
        ModelServer() as models,
        FakeSlack(rules=Rules(rates=Rates(off=True))) as slack,
    ):
        home = Home(tmp_path).with_config(two_panels_config(models.api_base)).with_tables()
        stage = Stage(home, slack, models)
        channel, other = stage.add_channel(), stage.add_channel()
        async with run_in_process(home, slack):
            event = await slack.mention("U1", channel, f"<@{BOT}> Which queue, once?")
            root = await stage.wait_for_answer(channel)
            await stage.wait_for_thread(root)
            stopped = await _running(stage, other)
            await _press(stage, stopped, "cancel")
            await slack.until(lambda: "Cancelled." in _root(stage, other))
        models.script.clear()
        async with run_in_process(home, slack):
            await _pressed_all(stage, event, root, stopped)
        assert slack.faults == []
        assert slack.pings() == []


async def _pressed_all(stage: Stage, event: Event, root: Message, stopped: Message) -> None:
    channel = root.channel
    await stage.slack.deliver_again(event)
    await _press(stage, root, "answers")
    await stage.wait_for_modal("U1", "North")
    await _press(stage, root, "ballots")
    await stage.wait_for_modal("U1", " saw ")
    await stage.slack.click(root, "council:more", "U1", in_menu(root, "export"))
    await stage.slack.until(lambda: [f for f in stage.slack.files if f.name.endswith(".json")])
    await stage.slack.click(root, "council:feedback", "U2", "positive")
    await stage.wait_for_ephemeral("U2", channel, "Noted, thank you.")
    await _press(stage, stopped, "resume")
    assert await stage.wait_for_answer(stopped.channel) is stopped
    assert len(stage.round_ids(channel)) == 1
    await stage.slack.click(root, "council:more", "U2", in_menu(root, "again"))
    question = await stage.wait_for_ephemeral("U2", channel, "Run again?")
    await _press(stage, question, "yes_again", "U2")
    await stage.wait_for_answer(channel, 2)
