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
    (message,) = [m for m in result.interaction.sent if custom_id_of(m, "keep_suite")]

    kept = await product.press("U1", message, "keep_suite")

    assert "2 questions, 1 with a reference answer." in shown
    assert "Suite filed is kept" in kept
    assert "filed" in await product.run("U2", channel, "suite")
    assert "What is 6 x 7?" in await product.run("U2", channel, "suite", words="show filed")


@pytest.mark.parametrize(
    ("words", "file", "error"),
    [
        ("add broken", Upload("q.csv", b"question\nWhy?\nWhy?\n"), "q.csv: Line 3 asks the same"),
        ("add broken", Upload("q.png", b"\x89PNG\xff"), "q.png"),
        ("do something", None, "suite show NAME"),
    ],
)
async def test_an_unreadable_suite_is_an_error_with_advice(
    product: StoryBot, words: str, file: Upload | None, error: str
) -> None:
    options = {"file": file} if file else {}

    said = await product.run("U1", product.channel(), "suite", words=words, **options)

    assert error in said


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


async def test_another_server_sees_none_of_it(product: StoryBot) -> None:
    root = await product.ask(product.channel(), "Which queue, of this server?")
    stolen = product.forge(root, "A1")

    result = await product.discord.click(stolen, custom_id_of(stolen, "suite"), "USTRANGER")
    assert result.modal
    sent = await product.discord.submit(result.modal, {"Suite": "stolen"}, "USTRANGER")

    assert "There is no round" in await product.wait_for_reply(sent)
