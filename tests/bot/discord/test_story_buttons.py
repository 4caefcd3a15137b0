"""What the buttons under an answer do: for whom, how often, and after a restart."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.bot.discord.process import run_process
from tests.bot.discord.story import SERVED, StoryBot, custom_id_of, run_story_bot
from tests.wire.discord import Message
from tests.wire.models import Hang, by_role

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _running(product: StoryBot) -> Message:
    """Have Ada ask three models that never answer, and give the message that shows it."""
    channel = product.channel()
    _silence(product)
    await product.discord.slash("U1", channel, "council ask", question="Which?", panel="served")
    said = product.discord.said_by_bot
    await product.discord.until(lambda: any("0 of 3" in m.text for m in said(channel)), 20)
    return said(channel)[0]


def _silence(product: StoryBot) -> None:
    """Script the panel "served" never to answer."""
    for name in SERVED:
        product.models.script[name] = by_role(answer=lambda _: Hang())


async def test_answers_and_ballots_are_ephemeral(product: StoryBot) -> None:
    root = await product.ask(product.channel())

    answers = await product.press("U2", root, "answers")
    ballots = await product.press("U2", root, "ballots")

    assert "Response " in answers
    assert ", by " in answers
    assert ballots.count(" and ranked ") == 3
    assert product.discord.messages(root.channel) == [root]


async def test_run_again_repeats_the_question_for_the_presser(
    product: StoryBot,
) -> None:
    channel = product.channel()
    root = await product.ask(channel, "Which queue, again?")

    told = await product.confirm("U2", root, "again")

    again = await product.answered(channel, 2)
    assert "Asking North, South and East" in told
    assert "Which queue, again?" in again.text
    assert "Asked by Ben" in again.text
    assert len(product.rounds(channel)) == 2


async def test_pressed_twice_it_runs_once_again(product: StoryBot) -> None:
    channel = product.channel()
    await product.discord.slash("U1", channel, "council ask", question="Which?", panel="served")
    root = await product.answered(channel)
    _silence(product)

    question = await product.press_for_question("U1", root, "again")
    yes = custom_id_of(question, "yes_again")
    clicks = (product.discord.click(question, yes, "U1") for _ in range(2))
    told = [await product.wait_for_reply(deed) for deed in await asyncio.gather(*clicks)]

    assert sum("Asking Up, Down and Left" in one for one in told) == 1
    assert sum("under way already" in one for one in told) == 1
    await product.run("U1", channel, "cancel", round="last")
    product.models.script.clear()
    assert len(product.rounds(channel)) == 2


async def test_run_again_asks_for_confirmation_with_the_cost(
    product: StoryBot,
) -> None:
    channel = product.channel()
    await product.discord.slash("U1", channel, "council ask", question="Which?", panel="served")
    root = await product.answered(channel)

    question = await product.press_for_question("U2", root, "again")

    assert question.ephemeral_to == product.discord.user("U2").id
    assert "The whole council is asked once more" in question.text
    assert "Cost unknown for Up, Down and Left" in question.text
    deed = await product.discord.click(question, custom_id_of(question, "no_again"), "U2")
    assert deed.accepted
    assert question.text == "-# Nothing was asked."
    assert not custom_id_of(question, "yes_again")
    assert len(product.rounds(channel)) == 1


async def test_only_asker_and_admins_cancel_and_then_can_resume(
    product: StoryBot,
) -> None:
    root = await _running(product)
    (id_,) = product.rounds(root.channel)

    assert "Only the one who asked, or an admin," in await product.press("U2", root, "cancel")
    question = await product.press_for_question("U1", root, "cancel")
    assert f"Cancel round {id_}?" in question.text
    assert "0 of 3 answers are kept" in question.text
    stolen = product.forge(question, product.channel())
    assert "Only the one who asked" in await product.press("U2", stolen, "yes_cancel")
    await product.discord.click(question, custom_id_of(question, "no_cancel"), "U1")
    assert question.text == "-# The round goes on."
    assert f"Round {id_} is cancelled" in await product.confirm("UADMIN", root, "cancel")
    await product.discord.until(lambda: custom_id_of(root, "resume"))
    assert "Kept so far: nothing." in root.text
    product.models.script.clear()
    assert "Only the one who asked" in await product.press("U2", root, "resume")
    await product.discord.click(root, custom_id_of(root, "resume"), "U1")

    assert await product.answered(root.channel) is root
    await product.told(root)
    assert product.rounds(root.channel) == [id_]


async def test_a_round_is_exported_once_into_its_thread(product: StoryBot) -> None:
    root = await product.ask(product.channel())
    await product.told(root)

    for user in ("U1", "U2", "U1"):
        assert "The round is in its thread, as JSON" in await product.press(user, root, "export")

    files = [file for m in product.discord.thread_of(root).said for file in m.files]
    (exported,) = [file for file in files if file.name.endswith(".json")]
    assert json.loads(exported.content)["question"] == "Which queue?"


async def test_the_last_feedback_of_each_person_is_stored(product: StoryBot) -> None:
    channel = product.channel()
    root = await product.ask(channel)
    (id_,) = product.rounds(channel)

    assert "Noted, thank you." in await product.press("U1", root, "helpful")
    deed = await product.discord.click(root, custom_id_of(root, "unhelpful"), "U1")
    assert deed.modal
    reason = {"What was wrong or missing?": "It names no number."}
    sent = await product.discord.submit(deed.modal, reason, "U1")

    assert "Noted, thank you." in await product.wait_for_reply(sent)
    kept = product.served.home.sql("SELECT helpful, reason FROM feedback WHERE round_id = ?", id_)
    assert kept == [(0, "It names no number.")]


async def test_a_round_of_another_server_is_not_found_by_its_id(product: StoryBot) -> None:
    root = await product.ask(product.channel())
    stolen = product.forge(root, "A1")

    for action in ("answers", "ballots", "again", "export", "helpful"):
        told = await product.press("USTRANGER", stolen, action)
        assert "There is no round" in told
    assert not product.rounds("A1")


async def test_buttons_and_modals_survive_a_restart(tmp_path: Path) -> None:
    async with run_story_bot(tmp_path) as product:
        discord, home = product.discord, product.served.home
        channel = product.channel()
        root = await product.ask(channel)
        await product.told(root)
        deed = await discord.click(root, custom_id_of(root, "unhelpful"), "U2")
        question = await product.press_for_question("U2", root, "again")
        assert deed.modal
        await product.served.kill()
        discord.gateway.cut()
        async with run_process(tmp_path, discord, (home.folder / "council.toml").read_text()):
            sent = await discord.submit(deed.modal, {"What was wrong or missing?": "No."}, "U2")
            assert "Noted, thank you." in await product.wait_for_reply(sent)
            assert "Response " in await product.press("U2", root, "answers")
            assert "as JSON" in await product.press("U1", root, "export")
            await product.press("U2", question, "yes_again")
            await product.answered(channel, 2)
            assert discord.faults == []
