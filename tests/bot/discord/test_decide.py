"""Deciding in Discord: a button under the answer, a modal, the new answer in its place."""

from typing import Any

import pytest

from bot.render.round_report.decisions import BEFORE, DECIDE
from tests.bot.discord.in_process import InProcessBot
from tests.bot.discord.story import custom_id_of
from tests.disputes import BROKER, OLD_TEXT, YES, take_positions
from tests.wire.discord import faults_of_modal
from tests.wire.discord.checks.components import LABEL, RADIO_GROUP, TEXT

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("is_asker", [True, False], ids=["asker", "somebody-else"])
async def test_a_decision_is_made_in_a_modal_and_posted_once(
    bot: InProcessBot, is_asker: bool
) -> None:
    other = bot.for_test().person
    take_positions(bot.gateway)
    root = await bot.answered()
    person = bot.person if is_asker else other

    opened = await bot.discord.click(root, custom_id_of(root, DECIDE), person)
    assert opened.modal
    assert faults_of_modal(opened.modal.data) == []
    (field,) = [one for one in opened.modal.data["components"] if one["type"] == LABEL]
    group: Any = field["component"]
    yes = group["options"][0]
    await bot.discord.submit(opened.modal, {group["custom_id"]: yes["value"]}, person)
    await bot.discord.until(lambda: len(bot.discord.thread_of(root).said) == 2)
    await bot.wait_until_delivered()

    (root,) = bot.bot_messages()
    thread = [message.text for message in bot.discord.thread_of(root).said]
    notes = [one["content"] for one in opened.modal.data["components"] if one["type"] == TEXT]
    assert (field["label"], group["type"], yes["label"]) == (BROKER, RADIO_GROUP, YES)
    assert "The chairman writes the answer once more" in notes[0]
    if is_asker:
        assert f"Settled: {YES}." in root.text
        assert OLD_TEXT not in root.text
        assert BEFORE in thread[-1]
        assert OLD_TEXT in thread[-1]
    else:
        assert OLD_TEXT in root.text
        assert "decided:" in thread[-1]
        assert f"Settled: {YES}." in thread[-1]
    assert len(thread) == 2


async def test_the_command_offers_the_button(bot: InProcessBot) -> None:
    take_positions(bot.gateway)
    await bot.answered()

    await bot.run("decide")

    await bot.discord.until(lambda: BROKER in bot.private_texts())
    message = bot.discord.ephemerals(bot.person)[-1]
    assert custom_id_of(message, DECIDE)
