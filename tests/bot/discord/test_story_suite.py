"""Suites in Discord: a file with the command, a list, and a round's question added in a modal."""

import pytest

from tests.bot.discord.story import Stage, part
from tests.wire.discord import Upload

pytestmark = pytest.mark.asyncio(loop_scope="session")

CSV = Upload("sql.csv", b"question,category,answer\nWhat is 6 x 7?,maths,42\nWhy?,,\n")


async def test_a_file_with_the_command_is_shown_and_kept_with_a_press(stage: Stage) -> None:
    channel = stage.channel()
    deed = await stage.discord.slash("U1", channel, "council suite", words="add filed", file=CSV)
    shown = await stage.answer_to(deed, "Keep suite filed?")
    (message,) = [m for m in deed.interaction.sent if part(m, "keep_suite")]

    kept = await stage.presses("U1", message, "keep_suite")

    assert "2 questions, 1 with a reference answer." in shown
    assert "Suite filed is kept" in kept
    assert "filed" in await stage.says("U2", channel, "suite")
    assert "What is 6 x 7?" in await stage.says("U2", channel, "suite", words="show filed")


@pytest.mark.parametrize(
    ("words", "file", "told"),
    [
        ("add broken", Upload("q.csv", b"question\nWhy?\nWhy?\n"), "q.csv: Line 3 asks the same"),
        ("add broken", Upload("q.png", b"\x89PNG\xff"), "q.png"),
        ("do something", None, "suite show NAME"),
    ],
)
async def test_what_cannot_be_read_is_said_with_what_to_do(
    stage: Stage, words: str, file: Upload | None, told: str
) -> None:
    options = {"file": file} if file else {}

    said = await stage.says("U1", stage.channel(), "suite", words=words, **options)

    assert told in said


async def test_a_rounds_question_is_added_in_a_modal(stage: Stage) -> None:
    channel = stage.channel()
    root = await stage.asked(channel, "Which queue, for the suite?")
    deed = await stage.discord.click(root, part(root, "suite"), "U2")
    assert deed.modal

    sent = await stage.discord.submit(
        deed.modal, {"Suite": "Grown", "The right answer": "42"}, "U2"
    )

    assert "The question is in suite grown now" in await stage.answer_to(sent)
    again = await stage.discord.click(root, part(root, "suite"), "U1")
    assert again.modal
    twice = await stage.discord.submit(again.modal, {"Suite": "grown"}, "U1")
    assert "Suite grown asks this already." in await stage.answer_to(twice)


async def test_another_server_sees_none_of_it(stage: Stage) -> None:
    root = await stage.asked(stage.channel(), "Which queue, of this server?")
    stolen = stage.forged(root, "A1")

    deed = await stage.discord.click(stolen, part(stolen, "suite"), "USTRANGER")
    assert deed.modal
    sent = await stage.discord.submit(deed.modal, {"Suite": "stolen"}, "USTRANGER")

    assert "There is no round" in await stage.answer_to(sent)
