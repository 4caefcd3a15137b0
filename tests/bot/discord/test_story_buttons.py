"""Process: buttons pressed twice, by others, and of another server; cancel, resume, export."""

import asyncio

import pytest

from tests.bot.app_fakes import BUTTONS
from tests.bot.discord.story import StoryBot, custom_id_of
from tests.bot.homes import SERVED
from tests.wire.discord import Message
from tests.wire.models import Hang, by_role

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def _running(product: StoryBot) -> Message:
    """Ask three models that never answer; return the progress message."""
    channel = product.channel()
    _silence(product)
    await product.discord.slash("U1", channel, "council ask", question="Which?", panel="served")
    said = product.discord.said_by_bot
    await product.discord.until(lambda: any("0 of 3" in m.text for m in said(channel)), 60)
    return said(channel)[0]


def _silence(product: StoryBot) -> None:
    for name in SERVED:
        product.models.script[name] = by_role(answer=lambda _: Hang())


async def test_pressed_twice_it_runs_once_again(product: StoryBot) -> None:
    channel = product.channel()
    await product.discord.slash("U1", channel, "council ask", question="Which?", panel="served")
    root = await product.answered(channel)
    _silence(product)

    question = await product.press_for_question("U1", root, "again")
    yes = custom_id_of(question, "yes_again")
    clicks = (product.discord.click(question, yes, "U1") for _ in range(2))
    results = await asyncio.gather(*clicks)

    def told() -> str:
        return "\n".join(one.text for result in results for one in result.sent)

    await product.discord.until(lambda: "already started" in told(), 30)
    assert told().count("already started") == 1
    await product.discord.until(lambda: len(product.rounds(channel)) == 2)
    await product.run("U1", channel, "cancel", round="last")
    product.models.script.clear()


async def test_only_asker_and_admins_cancel_and_then_can_resume(
    product: StoryBot,
) -> None:
    root = await _running(product)
    (id_,) = product.rounds(root.channel)

    assert "Only the person who asked, or an admin," in await product.press("U2", root, "cancel")
    question = await product.press_for_question("U1", root, "cancel")
    assert "Cancel “" in question.text
    assert "0 of 3 answers are saved" in question.text
    stolen = product.forge(question, product.channel())
    assert "Only the person who asked" in await product.press("U2", stolen, "yes_cancel")
    await product.discord.click(question, custom_id_of(question, "no_cancel"), "U1")
    assert question.text == f"-# {BUTTONS.confirmations['cancel'].after_no}"
    assert "is cancelled." in await product.confirm("UADMIN", root, "cancel")
    await product.discord.until(lambda: custom_id_of(root, "resume"))
    assert "Saved so far: nothing." in root.text
    product.models.script.clear()
    assert "Only the person who asked" in await product.press("U2", root, "resume")
    await product.discord.click(root, custom_id_of(root, "resume"), "U1")

    assert await product.answered(root.channel) is root
    await product.wait_for_thread(root)
    assert product.rounds(root.channel) == [id_]


async def test_a_round_of_another_server_is_not_found_by_its_id(product: StoryBot) -> None:
    root = await product.ask(product.channel())
    stolen = product.forge(root, "A1")

    for action in ("answers", "ballots", "more"):
        reply = await product.press("USTRANGER", stolen, action)
        assert "There is no round" in reply
    assert not product.rounds("A1")
