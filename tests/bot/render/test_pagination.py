"""Long posts in pages: the answer first, nothing dropped, blocks valid on every page."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.chat import (
    Button,
    Buttons,
    Caution,
    Heading,
    Line,
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
from bot.render.pagination import CONTINUED_NOTE, FULL_QUESTION_HEADING, paginate
from tests.bot.render.markdowns import MARKDOWN, words
from tests.bot.rounds import words_of

A_TABLE_OF_ONE_WORD = (
    "> w0w w1w w2w.\n> \n> w3w w4w w5w. w6w w7w w8w. w9w w10w w11w. w12w w13w w14w. w15w w16w w17w."
    "\n\n- | `w18w` |\n  |---|\n- w19w w20w w21w. w22w w23w w24w.\n- w25w w26w w27w. w28w w29w "
    "w30w. w31w w32w w33w. w34w w35w w36w. w37w w38w w39w. w40w w41w w42w."
)
CODE = "```py\na = 1\nb = 2\n```"
BUTTONS = Buttons((Button("again", "Run again", "r1"),))


def up_to(characters: int) -> Callable[[Post], bool]:
    return lambda post: len(words_of(post)) <= characters


def proses(text: str, characters: int) -> list[str]:
    """Return the texts of the pages of an answer if only its length counts."""

    def texts(post: Post) -> list[str]:
        return [part.text for part in post.parts if isinstance(part, Prose)]

    made = paginate(Post((Prose(text),), "s"), lambda post: len("".join(texts(post))) <= characters)
    return [text for page in made for text in texts(page)]


def test_the_first_page_has_all_but_the_rest_of_the_answer() -> None:
    answer = "First paragraph here.\n\nSecond paragraph here, a longer one."
    post = Post((Heading("Why?"), Prose(answer), Note("4 of 4"), BUTTONS), "Why?")

    first, second = paginate(post, up_to(79))

    assert paginate(post, up_to(200)) == (post,)
    start = Prose("First paragraph here.")
    assert first.parts == (Heading("Why?"), start, CONTINUED_NOTE, Note("4 of 4"), BUTTONS)
    assert second == Post((Prose("Second paragraph here, a longer one."),), "Why?")


def test_a_long_question_is_cut_at_a_word_and_shown_whole_at_the_end() -> None:
    question = "why " * 500
    made = paginate(Post((Heading(question), Prose("So."), BUTTONS), "Why?"), up_to(1_000))

    head = made[0].parts[0]
    assert isinstance(head, Heading)
    assert head.text.endswith("why…")
    assert len(head.text) <= 301
    assert made[0].parts[1:] == (Prose("So."), BUTTONS)
    assert made[1].parts[0] == FULL_QUESTION_HEADING
    assert " ".join(p.text for m in made for p in m.parts if isinstance(p, Quote)).split() == (
        question.split()
    )


@pytest.mark.parametrize(
    ("text", "room", "pages"),
    [
        pytest.param(
            f"An introduction of some length.\n\n{CODE}",
            40,
            ["An introduction of some length.", CODE],
            id="code-stays-whole",
        ),
        pytest.param(
            "```py\naaaaaaaaa\nbbbbbbbbb\nccccccccc\n```",
            30,
            ["```py\naaaaaaaaa\nbbbbbbbbb\n```", "```py\nccccccccc\n```"],
            id="code-opens-again",
        ),
        pytest.param(
            "``` three words\naaaaaaaaa\nbbbbbbbbb\n```",
            32,
            ["``` three words\naaaaaaaaa\n```", "```\nbbbbbbbbb\n```"],
            id="words-after-a-fence-are-not-repeated",
        ),
        pytest.param(
            "|a|b|\n|-|-|\n|1|2|\n|3|4|\n|5|6|",
            24,
            ["|a|b|\n|-|-|\n|1|2|\n|3|4|", "|a|b|\n|-|-|\n|5|6|"],
            id="a-table-repeats-its-head",
        ),
        pytest.param(
            "- one\n    - two two two\n    - three",
            24,
            ["- one\n    - two two two", "- three"],
            id="nested-items-move-to-the-margin",
        ),
        pytest.param(
            "Some words here.\n\n# Title\n\nMore words here.",
            30,
            ["Some words here.", "# Title\n\nMore words here."],
            id="a-heading-stays-with-its-text",
        ),
        pytest.param(
            "This is one. This is two. This is three.",
            30,
            ["This is one. This is two.", "This is three."],
            id="a-sentence-ends-a-page",
        ),
        pytest.param(
            "short " + "x" * 30, 20, ["short", "x" * 20, "x" * 10], id="only-long-words-are-cut"
        ),
    ],
)
def test_an_answer_is_cut_where_it_stays_valid(text: str, room: int, pages: list[str]) -> None:
    assert proses(text, room) == pages


@pytest.mark.parametrize("unit", ["e\u0301", "👩‍👩‍👧", "각"], ids=["accent", "zwj", "jamo"])
def test_a_character_is_never_cut(unit: str) -> None:
    for part in proses(unit * 20, 11):
        assert part.replace(unit, "") == ""


@pytest.mark.parametrize(
    "part",
    [
        Quote("one two three four five six seven eight nine ten"),
        Line("one two three four five six seven eight nine ten"),
        Caution("one two three four five six seven eight nine ten"),
        Table(("a", "b"), tuple((f"r{n}", "x") for n in range(20))),
        Table(("a",), (("one two three four five six seven eight nine ten",),)),
        Steps("Work", tuple(Step(f"step {n}", StepState.DONE) for n in range(20))),
        Buttons(tuple(Button("open", f"Round {n}", "r") for n in range(20))),
    ],
    ids=lambda part: type(part).__name__,
)
def test_every_kind_of_part_continues_where_it_was_cut(part: Part) -> None:
    made = paginate(Post((Heading("Title"), part), "s"), up_to(45))

    assert len(made) > 1
    assert all(up_to(45)(page) for page in made)
    assert all(isinstance(p, type(part)) for page in made[1:] for p in page.parts)


def test_a_heading_does_not_end_a_page_alone() -> None:
    parts = (Line("some words to begin with"), Heading("Title"), Line("what it heads, at length"))

    first, second = paginate(Post(parts, "s"), up_to(45))

    assert first.parts == parts[:1]
    assert second.parts == parts[1:]


def test_a_part_that_never_fits_is_a_page_by_itself() -> None:
    post = Post((Line("a b"), Line("c")), "s")

    assert len(paginate(post, lambda _: False)) >= 2
    assert words_of(paginate(post, lambda _: False)[-1]) == "c"


LENGTHS = st.sampled_from((150, 700, 4_000))
SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(SLOW, max_examples=20)
@given(MARKDOWN, LENGTHS)
@example(A_TABLE_OF_ONE_WORD, 150)  # it was cut inside the word, for the little room that was left
def test_every_page_fits_and_every_word_is_on_one(text: str, characters: int) -> None:
    assert_pages_fit_and_are_complete(text, characters)


@pytest.mark.nightly
@settings(SLOW, max_examples=1_000)
@given(MARKDOWN, LENGTHS)
def test_many_random_texts_fit_and_are_complete(text: str, characters: int) -> None:
    assert_pages_fit_and_are_complete(text, characters)


def assert_pages_fit_and_are_complete(text: str, characters: int) -> None:
    post = Post((Heading("Why?"), Prose(text), Note("4 of 4"), BUTTONS), "Why?")

    made = paginate(post, up_to(characters))

    assert all(up_to(characters)(page) for page in made)
    read = words("\n".join(map(words_of, made)))
    assert [*dict.fromkeys(read)] == words(text)  # a table that is divided repeats its head


@pytest.mark.parametrize(("first", "margin"), [("", ""), ("> ", "> "), ("- ", "  ")])
def test_fences_are_balanced_on_every_page(first: str, margin: str) -> None:
    code = "\n".join(f"code number {n}" for n in range(40))
    text = f"Some code:\n\n```py\na = 1\n```\n\n```py\n{code}\n{'x' * 400}\n```"

    pages = proses(first + text.replace("\n", f"\n{margin}"), 150)

    assert [page.count("```") % 2 for page in pages] == [0] * len(pages)
    assert "".join(pages).count("x") == 400
    assert all(line.startswith(margin[:1]) for page in pages[1:] for line in page.split("\n"))


def test_a_quote_of_one_long_word_is_paginated() -> None:
    made = proses("> " + "<!here>" * 60, 150)

    assert "".join(made).count("<!here>") >= 50
    assert len(made) < 10


def test_a_row_longer_than_a_page_continues_on_the_next() -> None:
    row = f"https://x.example/{'a' * 300}"

    made = proses(f"| head | b |\n|---|---|\n{row}", 100)

    assert "".join(made).replace("\n", "").endswith(row)
    assert max(map(len, made)) <= 100


def test_an_opening_line_longer_than_a_page_becomes_code() -> None:
    made = proses(f"```{'word ' * 100}\na = 1\n```", 100)

    assert max(map(len, made)) <= 100
    assert "".join(made).count("word") == 100
    assert all(text.startswith("```\n") for text in made[1:])
    assert made[-1].endswith("a = 1\n```")
