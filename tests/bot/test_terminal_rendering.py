"""Posts in a terminal: 80 columns wide, and safe from escape sequences in texts."""

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from bot.chat import (
    Caution,
    File,
    Heading,
    Note,
    Part,
    Post,
    Prose,
    Quote,
    Step,
    Steps,
    StepState,
    Table,
)
from bot.render.round_status import progress_post
from bot.terminal import render_post
from council.answers import Reply
from tests.bot.rounds import answers, held, round_thread
from tests.builders import NAMES, a_panel, a_question, a_round
from tests.fakes.gateway import FakeGateway

ATTACKS = {
    "colour": "\x1b[31mred\x1b[0m",
    "eight-bit": "\x9b31mred",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "clear": "\x1b[2J\x1b[H",
    "bidirectional": "\u202elive\u202c",
    "zero-width": "a\u200bb",
    "backspace": "good\b\b\b\bevil",
    "return": "good\revil",
}
LONG = "word " * 60 + "x" * 300
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")


def parts_of(text: str) -> list[Part]:
    """Return one part of every kind, each with the text."""
    step = Step(text, StepState.DONE, text)
    return [
        Heading(text),
        Prose(text),
        Quote(text),
        Note(text),
        Caution(text),
        Table(("Says", "n"), ((text, text),), frozenset({1})),
        Steps("", (step,)),
        File(text, "kept"),
    ]


def printed(post: Post, *, terminal: bool = False, width: int = 80) -> str:
    screen = io.StringIO()
    console = Console(file=screen, width=width, force_terminal=terminal, highlight=False)
    console.print(render_post(post))
    return screen.getvalue()


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_only_control_characters_are_our_own_styles(attack: str) -> None:
    for part in parts_of(f"before {attack} after"):
        assert not CONTROL.search(printed(Post((part,)))), part
        shown = printed(Post((part,)), terminal=True)

        bare = re.sub(r"\x1b\[[0-9;]*m", "", shown)
        assert not CONTROL.search(bare), part
        assert "\x1b[31m" not in shown, part


@pytest.mark.parametrize(
    "markup", ["[red]danger[/red]", "[link=http://evil.example]x[/link]", "[/]", "[bold", ":smile:"]
)
def test_console_markup_is_shown_as_text(markup: str) -> None:
    for part in parts_of(markup):
        assert markup in printed(Post((part,))), part


def test_a_link_in_an_answer_shows_where_it_leads() -> None:
    shown = printed(Post((Prose("[your bank](http://evil.example)"),)), terminal=True)

    assert "evil.example" in shown
    assert "\x1b]8" not in shown


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LONG, id="long-words"),
        pytest.param("为什么" * 80, id="wide-letters"),
        pytest.param("\t" * 30 + "x", id="tabs"),
        pytest.param(f"```\n{LONG}\n```", id="code"),
        pytest.param(f"| a | b |\n|---|---|\n| {LONG} | {LONG} |", id="table"),
        pytest.param(f"- {LONG}\n  - {LONG}\n> {LONG}\n# {LONG}", id="lists-quotes-headings"),
        pytest.param("👩‍💻" * 60, id="joined-emoji"),
    ],
)
def test_no_line_is_wider_than_the_terminal(text: str) -> None:
    for part in parts_of(text):
        lines = printed(Post((part,))).splitlines()

        assert max(map(cell_len, lines), default=0) <= 80, part


@pytest.mark.parametrize("number", [3, 5, 10])
async def test_a_whole_round_fits_in_eighty_columns(number: int) -> None:
    texts = answers(*[Reply(LONG, cost_usd=0.0123, seconds=123.4)] * number)
    gateway = FakeGateway(answers=texts, chairmen=dict.fromkeys(NAMES, LONG))
    round_ = await held(gateway, a_panel(number), a_question(LONG))
    thread = round_thread(round_)

    for post in (thread.root, *thread.replies, progress_post(round_, 3)):
        assert max(map(cell_len, printed(post).splitlines())) <= 80


def test_wrapping_loses_no_text() -> None:
    text = " ".join(f"word{number}" for number in range(100))

    for part in (Heading(text), Prose(text), Quote(text), Note(text), Caution(text)):
        assert re.findall(r"word\d+", printed(Post((part,)))) == text.split()


def test_progress_marks_how_far_each_step_is() -> None:
    shown = printed(progress_post(a_round(), 4))

    assert "Claude Sonnet 4.6 answers" in shown
    assert "· Writing the answer" in shown


def test_a_formula_keeps_its_source() -> None:
    shown = printed(Post((Prose(r"So \(p = .5\), and \[ \sqrt{x} \]"),)), terminal=False)

    assert "p = .5" in shown
    assert r"\sqrt{x}" in shown
    assert "(p = .5)" not in shown
