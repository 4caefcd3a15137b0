"""Every part of a post has its Markdown."""

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
from bot.render.markdown import thread_markdown


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


def test_replies_follow_the_post_and_empty_parts_leave_no_gap() -> None:
    root = Post((Heading("One"), Steps("s", ()), Line("a")))
    thread = Thread(root, (Post((Heading("Two"), Line("b"))),))

    assert thread_markdown(thread) == "# One\n\na\n\n## Two\n\nb\n"
