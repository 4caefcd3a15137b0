"""The charts of a bias report: their marks, that they fit the canvas, and SVG and PNG."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.render.bias_charts import consistency_bars, heat_map, render_drawings, slot_curves
from bot.render.bias_message import render_bias_pngs, render_combined_bias_png
from bot.render.bias_view import BiasView, make_bias_view
from bot.render.charts import (
    HEAT_COLOURS,
    PNG_SCALE,
    Band,
    Colour,
    Figure,
    Label,
    Path,
    render_svg,
    stack_figures,
)
from bot.render.leaderboard_tables import Coverage
from council.bias.report import Effect, JudgeBias
from tests.bot.render.bias.builders import (
    AUDITS,
    NOTHING,
    SEATS,
    a_bias,
    a_judge,
    a_qwen,
    a_report,
    some_given,
)
from tests.bot.render.boards.builders import QWEN
from tests.bot.render.test_leaderboard_chart import corners, words_of

PNG = b"\x89PNG\r\n\x1a\n"
EVIL = '</text><script>alert(1)</script>"&'

names = st.text(max_size=5) | st.sampled_from(["W" * 60, "Qwen 3 (ollama/qwen3)", "\x00", EVIL])
numbers = st.none() | st.floats(-2, 2) | st.just(float("nan"))


@st.composite
def judges(draw: st.DrawFn) -> JudgeBias:
    judge = a_qwen(draw(st.sampled_from([*SEATS, "someone/else"])))
    value, low = draw(numbers), draw(st.floats(-2, 2))
    kept = Effect(3, AUDITS, value, draw(st.none() | st.just((low, low + 1))))
    return replace(
        judge,
        kept=kept,
        position=replace(judge.position, p_holm=draw(st.none() | st.floats(0, 1))),
        slots=tuple(
            replace(slot, effect=replace(slot.effect, value=draw(numbers)))
            for slot in judge.slots[: draw(st.integers(0, 4))]
        ),
    )


@st.composite
def biases(draw: st.DrawFn) -> BiasView:
    found = draw(st.lists(judges(), max_size=13))
    seats = (*dict.fromkeys(judge.judge for judge in found),) or SEATS
    report = a_report(judges=tuple(found), given=some_given(seats) if draw(st.booleans()) else ())
    return make_bias_view(report, Coverage(64), {seat: draw(names) for seat in seats})


def figures(bias: BiasView) -> tuple[Figure, ...]:
    return (heat_map(bias), slot_curves(bias), consistency_bars(bias))


@given(biases())
def test_no_mark_crosses_the_edge(bias: BiasView) -> None:
    for figure in figures(bias):
        for mark in figure.marks:
            for x, y in corners(mark):
                assert -0.5 <= x <= figure.width + 0.5, mark
                assert -0.5 <= y <= figure.height + 0.5, mark


@given(biases())
def test_the_svg_is_well_formed_and_has_no_inline_style(bias: BiasView) -> None:
    for figure in figures(bias):
        made = render_svg(figure)

        # What we made ourselves can be trusted.
        root = ElementTree.fromstring(made)  # noqa: S314
        assert root.attrib["aria-label"]
        assert not re.search(r'\sstyle="|<style|<script|\son\w+="', made)


def test_the_heat_map_has_judges_as_rows_authors_as_columns_and_outlines_own_answers() -> None:
    figure = heat_map(a_bias())

    text = words_of(figure)
    outlined = [
        mark for mark in figure.marks if isinstance(mark, Path) and mark.colour is Colour.TEXT
    ]
    assert text[1:6] == ["1", "2", "3", "4", "5"]
    assert text.count("–") == 5
    assert len(outlined) == 4
    assert {".90", ".73", "1.00"} <= {*text}


def test_a_larger_share_has_a_stronger_shade() -> None:
    figure = heat_map(a_bias())

    shades = [HEAT_COLOURS.index(mark.colour) for mark in figure.marks if isinstance(mark, Band)]

    assert shades[:5] == [4, 3, 2, 1, 1]


def test_few_ballots_are_not_shaded_and_have_a_note() -> None:
    given = tuple(replace(one, n=3) for one in some_given()[:5])
    figure = heat_map(a_bias(given=given))

    assert not any(isinstance(mark, Band) for mark in figure.marks)
    assert "Not shaded: fewer than ten ballots." in words_of(figure)
    assert "itself 1.00 (n 3)" in figure.description


def test_an_author_that_never_judged_has_a_row() -> None:
    figure = heat_map(a_bias(judges=(a_qwen(),), given=some_given()[:5]))

    assert words_of(figure)[1:6] == ["1", "2", "3", "4", "5"]


def test_a_curve_says_in_words_whether_it_may_be_chance() -> None:
    figure = slot_curves(a_bias())

    text = words_of(figure)
    strong = [
        mark for mark in figure.marks if isinstance(mark, Path) and mark.colour is Colour.FIRST
    ]
    assert text[text.index("Qwen 3") + 1] == "beyond chance, p < .001"
    assert text[text.index("GPT-5.1") + 1] == "may be chance, p .610"
    assert text[text.index("Qwen Coder") + 1] == "too little to say"
    assert len(strong) == 1


def test_the_bars_mark_chance_and_say_who_may_be_chance() -> None:
    text = words_of(consistency_bars(a_bias()))

    assert "chance, 50 %" in text
    assert text[text.index("Qwen 3") + 1] == "56 %, may be chance"
    assert text[text.index("GPT-5.1") + 1] == "93 %"


def test_a_judge_worse_than_a_coin_is_labelled() -> None:
    worse = a_judge(kept=Effect(40, AUDITS, 0.2, (0.1, 0.3)))

    assert "20 %, worse than a coin" in words_of(consistency_bars(a_bias(judges=(worse,))))


def test_too_many_judges_are_left_to_the_tables() -> None:
    many = tuple(a_judge(f"openai/model-{number}") for number in range(12))

    for figure in figures(a_bias(judges=many, given=())):
        assert "2 more judges in the tables." in words_of(figure)


def test_every_figure_has_a_description() -> None:
    given, slots, kept = (drawing.figure.description for drawing in render_drawings(a_bias()))

    assert "Qwen 3 gave Claude Sonnet 4.6 .90" in given
    assert "Qwen 3: slot 1 +.21 (.16 to .26)" in slots
    assert "Qwen 3 kept 56 % (47 % to 65 %, 21 audit ballots)." in kept


def test_an_empty_figure_is_not_drawn() -> None:
    fair = a_judge(kept=Effect(0, AUDITS))

    drawn = render_drawings(a_bias(judges=(fair,)))

    assert [drawing.key for drawing in drawn] == ["given", "slots"]


def test_a_heat_map_without_audits_says_why_nothing_is_outlined() -> None:
    blind = tuple(one for one in some_given() if one.judge != one.author)

    text = words_of(heat_map(a_bias(given=blind)))

    assert "No judge was shown its own answer: audit ballots do so." in text


def test_without_judges_the_png_says_there_is_nothing_to_draw() -> None:
    empty = make_bias_view(NOTHING, Coverage(), {})

    assert render_bias_pngs(empty) == ()
    assert render_combined_bias_png(empty).startswith(PNG)
    assert all("yet" in figure.description for figure in figures(empty))


def test_the_pngs_are_deterministic() -> None:
    first, second = render_bias_pngs(a_bias()), render_bias_pngs(a_bias())

    assert first == second
    assert all(picture.startswith(PNG) for picture in first)


def test_the_combined_png_stacks_all_figures() -> None:
    parts = figures(a_bias())

    whole = stack_figures(parts)
    picture = render_combined_bias_png(a_bias())

    height = int.from_bytes(picture[20:24])
    assert whole.height > sum(figure.height for figure in parts)
    assert words_of(whole) == [text for figure in parts for text in words_of(figure)]
    lowest = max(mark.y for mark in whole.marks if isinstance(mark, Label))
    assert lowest < whole.height
    assert height == pytest.approx(whole.height * PNG_SCALE, abs=1)


@pytest.mark.parametrize("name", ["$x^2$ and $\\frac", "\x00\x1b[31m", "", EVIL])
def test_any_name_is_drawn(name: str) -> None:
    bias = make_bias_view(a_report(), Coverage(64), {QWEN: name})

    assert all(picture.startswith(PNG) for picture in render_bias_pngs(bias))
    assert all("<script" not in render_svg(figure) for figure in figures(bias))
