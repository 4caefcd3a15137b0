"""A thread as a Markdown file."""

import pytest

from bot.chat import (
    Button,
    Buttons,
    Caution,
    File,
    Heading,
    Line,
    Note,
    Part,
    Post,
    Prose,
    Quote,
    Steps,
    Table,
    Thread,
)
from bot.render.round_report import round_thread, thread_markdown
from tests.bot.rounds import held


@pytest.mark.parametrize(
    ("part", "text"),
    [
        pytest.param(Heading("The\nanswer"), "# The answer", id="heading"),
        pytest.param(Prose("**Yes.**\n\n- one"), "**Yes.**\n\n- one", id="prose"),
        pytest.param(Quote("Why?\nHow?"), "> Why?\n> How?", id="quote"),
        pytest.param(Line(" one\n line "), "one line", id="line"),
        pytest.param(Note("small"), "small", id="note"),
        pytest.param(Caution("careful"), "careful", id="caution"),
        pytest.param(Buttons((Button("a", "b", "c"),)), "", id="buttons"),
        pytest.param(Steps("steps", ()), "", id="steps"),
        pytest.param(File("a.txt", "text"), "", id="file"),
        pytest.param(
            Table(("", "Points"), (("A|B", "1"), ("C\nD", "2")), frozenset({1})),
            "|  | Points |\n| --- | --: |\n| A\\|B | 1 |\n| C D | 2 |",
            id="table",
        ),
    ],
)
def test_each_part_has_its_markdown(part: Part, text: str) -> None:
    assert thread_markdown(Thread(Post((part,)))) == text + "\n"


def test_replies_follow_the_post() -> None:
    thread = Thread(Post((Heading("One"), Line("a"))), (Post((Heading("Two"), Line("b"))),))

    assert thread_markdown(thread) == "# One\n\na\n\n## Two\n\nb\n"


def test_empty_parts_leave_no_gap() -> None:
    assert thread_markdown(Thread(Post((Line("a"), Steps("s", ()), Line("b"))))) == "a\n\nb\n"


async def test_a_rounds_file_contains_the_whole_thread() -> None:
    round_ = await held()

    text = thread_markdown(round_thread(round_))

    assert round_.synthesis
    assert round_.synthesis.text in text
    assert round_.question.text in text
    assert all(answer.reply.text in text for answer in round_.answers)
    assert all(ballot.reason in text for ballot in round_.ballots)
