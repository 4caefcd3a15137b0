"""What the buttons under an answer do: for whom, how often, and after a restart."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.bot.discord.process import serving
from tests.bot.discord.story import SERVED, Stage, part, staged
from tests.wire.discord import Message
from tests.wire.models import Hang, by_role

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _running(stage: Stage) -> Message:
    """Have Ada ask three models that never answer, and give the message that shows it."""
    channel = stage.channel()
    _silence(stage)
    await stage.discord.slash("U1", channel, "council ask", question="Which?", panel="served")
    said = stage.discord.said_by_bot
    await stage.discord.until(lambda: any("0 of 3" in m.text for m in said(channel)), 20)
    return said(channel)[0]


def _silence(stage: Stage) -> None:
    """Have the panel "served" never answer."""
    for name in SERVED:
        stage.models.script[name] = by_role(answer=lambda _: Hang())


async def test_answers_and_ballots_are_shown_to_the_one_who_asks_for_them(stage: Stage) -> None:
    root = await stage.asked(stage.channel())

    answers = await stage.presses("U2", root, "answers")
    ballots = await stage.presses("U2", root, "ballots")

    assert "Response " in answers
    assert ", by " in answers
    assert ballots.count(" and ranked ") == 3
    assert stage.discord.messages(root.channel) == [root]


async def test_run_again_asks_the_same_panel_the_same_for_the_one_who_pressed(stage: Stage) -> None:
    channel = stage.channel()
    root = await stage.asked(channel, "Which queue, again?")

    told = await stage.confirms("U2", root, "again")

    again = await stage.answered(channel, 2)
    assert "Asking North, South and East" in told
    assert "Which queue, again?" in again.text
    assert "Asked by Ben" in again.text
    assert len(stage.rounds(channel)) == 2


async def test_pressed_twice_it_runs_once_again(stage: Stage) -> None:
    channel = stage.channel()
    await stage.discord.slash("U1", channel, "council ask", question="Which?", panel="served")
    root = await stage.answered(channel)
    _silence(stage)

    question = await stage.asked_back("U1", root, "again")
    yes = part(question, "yes_again")
    clicks = (stage.discord.click(question, yes, "U1") for _ in range(2))
    told = [await stage.answer_to(deed) for deed in await asyncio.gather(*clicks)]

    assert sum("Asking Up, Down and Left" in one for one in told) == 1
    assert sum("under way already" in one for one in told) == 1
    await stage.says("U1", channel, "cancel", round="last")
    stage.models.script.clear()
    assert len(stage.rounds(channel)) == 2


async def test_before_it_runs_again_the_presser_is_told_what_that_costs_and_may_say_no(
    stage: Stage,
) -> None:
    channel = stage.channel()
    await stage.discord.slash("U1", channel, "council ask", question="Which?", panel="served")
    root = await stage.answered(channel)

    question = await stage.asked_back("U2", root, "again")

    assert question.ephemeral_to == stage.discord.user("U2").id
    assert "The whole council is asked once more" in question.text
    assert "Cost unknown for Up, Down and Left" in question.text
    deed = await stage.discord.click(question, part(question, "no_again"), "U2")
    assert deed.accepted
    assert question.text == "-# Nothing was asked."
    assert not part(question, "yes_again")
    assert len(stage.rounds(channel)) == 1


async def test_the_asker_and_admins_alone_cancel_and_then_it_can_be_gone_on_with(
    stage: Stage,
) -> None:
    root = await _running(stage)
    (id_,) = stage.rounds(root.channel)

    assert "Only the one who asked, or an admin," in await stage.presses("U2", root, "cancel")
    question = await stage.asked_back("U1", root, "cancel")
    assert f"Cancel round {id_}?" in question.text
    assert "0 of 3 answers are kept" in question.text
    stolen = stage.forged(question, stage.channel())
    assert "Only the one who asked" in await stage.presses("U2", stolen, "yes_cancel")
    await stage.discord.click(question, part(question, "no_cancel"), "U1")
    assert question.text == "-# The round goes on."
    assert f"Round {id_} is cancelled" in await stage.confirms("UADMIN", root, "cancel")
    await stage.discord.until(lambda: part(root, "resume"))
    assert "Kept so far: nothing." in root.text
    stage.models.script.clear()
    assert "Only the one who asked" in await stage.presses("U2", root, "resume")
    await stage.discord.click(root, part(root, "resume"), "U1")

    assert await stage.answered(root.channel) is root
    await stage.told(root)
    assert stage.rounds(root.channel) == [id_]


async def test_a_round_is_exported_once_into_its_thread(stage: Stage) -> None:
    root = await stage.asked(stage.channel())
    await stage.told(root)

    for user in ("U1", "U2", "U1"):
        assert "The round is in its thread, as JSON" in await stage.presses(user, root, "export")

    files = [file for m in stage.discord.thread_of(root).said for file in m.files]
    (exported,) = [file for file in files if file.name.endswith(".json")]
    assert json.loads(exported.content)["question"] == "Which queue?"


async def test_opinions_are_kept_the_last_of_each_person_with_its_reason(stage: Stage) -> None:
    channel = stage.channel()
    root = await stage.asked(channel)
    (id_,) = stage.rounds(channel)

    assert "Noted, thank you." in await stage.presses("U1", root, "helpful")
    deed = await stage.discord.click(root, part(root, "unhelpful"), "U1")
    assert deed.modal
    reason = {"What was wrong or missing?": "It names no number."}
    sent = await stage.discord.submit(deed.modal, reason, "U1")

    assert "Noted, thank you." in await stage.answer_to(sent)
    kept = stage.served.home.sql("SELECT helpful, reason FROM feedback WHERE round_id = ?", id_)
    assert kept == [(0, "It names no number.")]


async def test_a_round_of_another_server_is_nobodys_there_even_with_its_id(stage: Stage) -> None:
    root = await stage.asked(stage.channel())
    stolen = stage.forged(root, "A1")

    for action in ("answers", "ballots", "again", "export", "helpful"):
        told = await stage.presses("USTRANGER", stolen, action)
        assert "There is no round" in told
    assert not stage.rounds("A1")


async def test_buttons_and_modals_of_before_a_restart_work(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        discord, home = stage.discord, stage.served.home
        channel = stage.channel()
        root = await stage.asked(channel)
        await stage.told(root)
        deed = await discord.click(root, part(root, "unhelpful"), "U2")
        question = await stage.asked_back("U2", root, "again")
        assert deed.modal
        await stage.served.kill()
        discord.gateway.cut()
        async with serving(tmp_path, discord, (home.folder / "council.toml").read_text()):
            sent = await discord.submit(deed.modal, {"What was wrong or missing?": "No."}, "U2")
            assert "Noted, thank you." in await stage.answer_to(sent)
            assert "Response " in await stage.presses("U2", root, "answers")
            assert "as JSON" in await stage.presses("U1", root, "export")
            await stage.presses("U2", question, "yes_again")
            await stage.answered(channel, 2)
            assert discord.faults == []
