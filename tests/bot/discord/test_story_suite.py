"""Suites in Discord: a file with the command, a list, and a round's question added in a modal."""

import pytest

from tests.bot.discord.story import StoryBot, custom_id_of
from tests.wire.discord import Upload

pytestmark = pytest.mark.asyncio(loop_scope="package")

CSV = Upload("sql.csv", b"question,category,answer\nWhat is 6 x 7?,maths,42\nWhy?,,\n")


async def test_a_file_is_previewed_and_stored_by_a_button(product: StoryBot) -> None:
    channel = product.channel()
    result = await product.discord.slash(
        "U1", channel, "council suite", words="add filed", file=CSV
    )
    shown = await product.wait_for_reply(result, "Keep suite filed?")
    (message,) = [m for m in result.sent if custom_id_of(m, "keep_suite")]

    kept = await product.press("U1", message, "keep_suite")

    assert "2 questions, 1 with a reference answer." in shown
    assert "Suite filed is kept" in kept
    assert "filed" in await product.run("U2", channel, "suite")
    assert "What is 6 x 7?" in await product.run("U2", channel, "suite", words="show filed")


async def test_a_rounds_question_is_added_in_a_modal(product: StoryBot) -> None:
    channel = product.channel()
    root = await product.ask(channel, "Which queue, for the suite?")
    result = await product.discord.click(root, custom_id_of(root, "suite"), "U2")
    assert result.modal

    sent = await product.discord.submit(
        result.modal, {"Suite": "Grown", "The right answer": "42"}, "U2"
    )

    assert "The question is in suite grown now" in await product.wait_for_reply(sent)
    again = await product.discord.click(root, custom_id_of(root, "suite"), "U1")
    assert again.modal
    twice = await product.discord.submit(again.modal, {"Suite": "grown"}, "U1")
    assert "Suite grown asks this already." in await product.wait_for_reply(twice)
