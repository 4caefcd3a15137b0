"""Rendering of posts: the component that each part becomes."""

from typing import Any

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
    Step,
    Steps,
    StepState,
    Table,
)
from bot.discord.actions import Button as DiscordButton
from bot.discord.components import (
    custom_id,
    fits_discord,
    render_components,
)
from bot.render.pagination import paginate
from bot.render.round_status import running_post
from tests.bot.discord.limits import (
    BUTTON,
    CONTAINER,
    ROW,
    TEXT,
    components_of,
    message_faults,
    texts,
)
from tests.bot.rounds import held, round_thread, stages_of
from tests.builders import a_panel
from tests.fakes.gateway import FakeGateway

STANDINGS = Table(
    ("#", "Model", "Points", "First votes"),
    (("1", "Claude Sonnet 4.6", "5 of 6", "2"), ("2", "Gemini 3 Pro", "3.5 of 6", "1")),
    frozenset({0, 2, 3}),
)


def said(*parts: Part) -> str:
    (text,) = texts(components_of(render_components(Post(parts, "s"))))
    return text.replace("\u00a0", " ")


def kinds(post: Post) -> list[int]:
    return [component["type"] for component in components_of(render_components(post))]


def buttons_of(post: Post) -> list[list[dict[str, Any]]]:
    rows = [one for one in components_of(render_components(post)) if one["type"] == ROW]
    return [row["components"] for row in rows]


async def test_a_closed_round_starts_with_the_answer_and_ends_with_buttons() -> None:
    root = round_thread(await held()).root

    assert kinds(root) == [TEXT, ROW]
    words = texts(components_of(render_components(root)))[0].split("\n")
    assert words[:2] == ["## Is Postgres enough for a job queue?", "The council says yes."]
    assert words[3].startswith("-# Best-ranked: Gemini 3 Pro, 6 of 6 points")
    (row,) = buttons_of(root)
    assert [one["label"] for one in row] == ["Answers", "Rankings", "More"]
    assert row[-1]["custom_id"] == "council:more:r1"


async def test_the_results_name_the_author_of_each_answer_with_labelled_points() -> None:
    post = round_thread(await held()).replies[0]

    lines = said(*post.parts).split("\n")
    assert lines[0] == "## Results"
    assert lines[1].startswith("1. **Gemini 3 Pro** 6 of 6 points · 3 first votes")


async def test_a_ranking_is_followed_by_its_reason() -> None:
    post = round_thread(await held()).replies[1]

    said_there = texts(components_of(render_components(post)))[0]
    assert " > GPT-5.1\n-# “It is right.”\n\n**" in said_there


async def test_every_stage_of_a_round_is_a_valid_message() -> None:
    for round_ in await stages_of(FakeGateway(), a_panel(4)):
        post = running_post(round_, 3.0)

        assert fits_discord(post)
        assert message_faults(render_components(post)) == []
        assert [row[-1]["style"] for row in buttons_of(post)] == [4]


def test_a_short_question_is_a_title_and_a_long_one_is_bold() -> None:
    assert said(Heading("Why *not*?")) == "## Why \\*not\\*?"
    assert said(Heading("why " * 50)) == f"**{'why ' * 49}why**"
    assert said(Heading("a\nb")) == "**a**\n**b**"


def test_only_cautions_are_in_a_coloured_container() -> None:
    post = Post((Heading("Why?"), Caution("One is missing."), Caution("Two."), Prose("So.")), "s")

    assert kinds(post) == [TEXT, CONTAINER, TEXT]
    box = components_of(render_components(post))[1]
    assert texts([box]) == ["One is missing.\n\nTwo."]
    assert box["accent_color"]


def test_notes_are_small_and_quotes_are_quoted() -> None:
    assert said(Note("21 s\nand")) == "-# 21 s and"
    assert said(Quote("a\n\n# b")) == "> a\n> \n> \\# b"


@pytest.mark.parametrize("part", [Line, Note, Caution])
def test_only_code_and_strong_words_of_a_line_are_markup(part: type[Line]) -> None:
    text = said(part("1. **a** `/council show` *b* _c_ [d](https://e.example) @everyone `<@1>`"))

    assert text.removeprefix("-# ") == (
        "1\\. **a** `/council show` \\*b\\* \\_c\\_ \\[d](<https://e.example>) @\u200beveryone"
        " `<\u200b@1>`"
    )


def test_commands_are_clickable_in_notes_and_lines_but_not_in_a_models_words() -> None:
    post = Post((Prose("Ask `/council show`."), Note("Ask `/council show`.")), "s")

    message = render_components(
        post, lambda text: text.replace("`/council show`", "</council show:1>")
    )

    assert texts(components_of(message)) == ["Ask `/council show`.\n\n-# Ask </council show:1>."]


def test_each_candidates_line_starts_with_the_author() -> None:
    assert said(STANDINGS) == (
        "1. **Claude Sonnet 4.6** 5 of 6 points · 2 first votes\n"
        "2. **Gemini 3 Pro** 3.5 of 6 points · 1 first vote"
    )


def test_shared_places_are_not_list_numbers() -> None:
    rows = tuple(("1", *row[1:]) for row in STANDINGS.rows)

    lines = said(Table(STANDINGS.columns, rows, STANDINGS.numeric)).split("\n")

    assert [line.split(" ")[0] for line in lines] == ["1\\.", "1\\."]


def test_a_table_that_a_phone_can_show_stands_in_columns() -> None:
    assert said(Table(("Panel", "Seats"), (("house", "4"),), frozenset({1}))) == (
        "```\nPanel  Seats\nhouse      4\n```"
    )


def test_steps_show_their_state_in_words() -> None:
    steps = (Step("A answers", StepState.DONE, "4 s"), Step("B answers", StepState.RUNNING))

    assert said(Steps("1 of 2 answered", steps)) == (
        "**1 of 2 answered**\n- A answers: done, 4 s\n- B answers: in progress …"
    )


def test_only_destructive_buttons_are_red() -> None:
    (row,) = buttons_of(Post((Buttons((Button("cancel", "Stop", "r"), Button("a", "A", "r"))),)))

    assert [(one["type"], one["style"]) for one in row] == [(BUTTON, 4), (BUTTON, 2)]


def test_buttons_wrap_into_rows_without_duplicates() -> None:
    some = tuple(Button("open", f"Round {n % 7}", f"r{n % 7}") for n in range(9))

    assert [len(row) for row in buttons_of(Post((Buttons(some),)))] == [5, 2]


def test_a_custom_id_parses_to_its_action_and_value() -> None:
    id_ = custom_id(Button("answers", "Answers", "r:1"))

    read = DiscordButton.__discord_ui_compiled_template__.fullmatch(id_)

    assert id_ == "council:answers:r:1"
    assert read
    assert (read["action"], read["value"]) == ("answers", "r:1")


@pytest.mark.parametrize("foreign", ["", "council", "council:a", "council::r1", "other:a:b"])
def test_a_foreign_custom_id_is_not_parsed(foreign: str) -> None:
    assert DiscordButton.__discord_ui_compiled_template__.fullmatch(foreign) is None


def test_a_custom_id_that_discord_would_refuse_raises() -> None:
    with pytest.raises(ValueError, match="invalid custom id"):
        custom_id(Button("open", "Open", "r" * 100))


def test_a_file_is_sent_with_the_message_that_names_it() -> None:
    message = render_components(Post((Line("Here."), File("round 1/é.md", "# Round")), "s"))

    assert components_of(message)[1]["file"] == {"url": "attachment://round-1-.md"}
    assert message.files == (File("round-1-.md", "# Round"),)


@pytest.mark.parametrize("post", [Post(()), Post((Prose("---"),)), Post((Line(" "),), " \u200b")])
def test_a_message_is_never_empty(post: Post) -> None:
    assert message_faults(render_components(post)) == []


def test_the_longest_question_is_shown_whole() -> None:
    question = "why " * 5_000
    post = Post((Heading(question), Prose("So."), Note("4 of 4")), question)

    made = [render_components(page) for page in paginate(post, fits_discord)]

    assert all(message_faults(message) == [] for message in made)
    assert "So." in texts(components_of(made[0]))[0]
    assert sum(" ".join(texts(components_of(m))).count("why") for m in made[1:]) == 5_000


@pytest.mark.parametrize(
    ("words", "fits"),
    [
        pytest.param("a" * 4_000, True, id="letters"),
        pytest.param("a" * 4_001, False, id="a-letter-more"),
        pytest.param("汉" * 3_329, True, id="bytes"),
        pytest.param("汉" * 3_330, False, id="some-bytes-more"),
        pytest.param("🙂" * 2_000, True, id="drawn"),
        pytest.param("🙂" * 2_001, False, id="one-drawn-more"),
    ],
)
def test_a_text_fits_by_its_letters_and_by_its_bytes(words: str, *, fits: bool) -> None:
    assert fits_discord(Post((Line(words),))) is fits


def test_more_than_forty_components_do_not_fit() -> None:
    boxes = (Caution("a"), Line("b")) * 13

    assert fits_discord(Post(boxes))
    assert not fits_discord(Post((*boxes, Caution("a"))))
