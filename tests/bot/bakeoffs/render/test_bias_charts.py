"""The charts of a bias report: what they draw, that they fit the canvas, and SVG and PNG."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.bakeoffs.render.bias_charts import render_drawings
from bot.bakeoffs.render.bias_message import render_combined_bias_png
from bot.bakeoffs.render.bias_tables import BiasView, make_bias_view
from bot.bakeoffs.render.leaderboard_tables import Coverage
from bot.render.charts import Figure
from council.bakeoffs.bias.report import Effect, JudgeBias
from tests.bot.bakeoffs.render.bias.builders import (
    AUDITS,
    NOTHING,
    SEATS,
    a_bias,
    a_judge,
    a_qwen,
    a_report,
    some_given,
)
from tests.bot.render.drawn import (
    EVIL,
    PNG,
    assert_fits_the_page,
    assert_stays_on_the_canvas,
    marks_of,
    svg_of,
    texts_of,
)

names = st.text(max_size=5) | st.sampled_from(["W" * 60, "Qwen 3 (ollama/qwen3)", "\x00", EVIL])
numbers = st.none() | st.floats(-2, 2) | st.just(float("nan"))

GIVEN, SLOTS, KEPT = "How judges rated each author", "Position bias", "Consistency"


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


def figures(bias: BiasView) -> dict[str, Figure]:
    return {drawing.title: drawing.figure for drawing in render_drawings(bias)}


def heat_map(**changed: object) -> Figure:
    return figures(a_bias(**changed))[GIVEN]


def assert_are_drawn_well(bias: BiasView) -> None:
    drawn = figures(bias).values()
    if drawn:
        assert_stays_on_the_canvas(*drawn)
    for figure in drawn:
        assert_fits_the_page(figure)


@settings(max_examples=5)
@given(biases())
def test_any_figure_stays_on_its_canvas_and_fits_the_page(bias: BiasView) -> None:
    assert_are_drawn_well(bias)


@pytest.mark.nightly
@settings(max_examples=100)
@given(biases())
def test_many_figures_stay_on_their_canvas_and_fit_the_page(bias: BiasView) -> None:
    assert_are_drawn_well(bias)


def test_the_heat_map_has_judges_as_rows_authors_as_columns_and_outlines_own_answers() -> None:
    figure = heat_map()

    texts = texts_of(figure)
    assert texts[1:6] == ["1", "2", "3", "4", "5"]
    assert texts.count("–") == 5
    assert len(marks_of(figure, "s-text")) == 4
    assert {".90", ".73", "1.00"} <= {*texts}
    assert shades_of(figure)[:3] == ["f-heat-4", "f-heat-3", "f-heat-2"]


def shades_of(figure: Figure) -> list[str]:
    classes = [path.attrib["class"].split()[0] for path in svg_of(figure).iterfind("{*}path")]
    return [name for name in classes if name.startswith("f-heat")]


def test_few_ballots_are_not_shaded_and_have_a_note() -> None:
    one, *others = some_given()[:5]
    given = (one, *(replace(other, n=3) for other in others))
    figure = heat_map(judges=(a_qwen(),), given=given)
    few = figures(a_bias(given=tuple(replace(one, n=3) for one in given)))

    assert texts_of(figure)[1:6] == ["1", "2", "3", "4", "5"]  # authors who never judged too
    assert len(shades_of(figure)) == 1
    assert GIVEN not in few
    assert "Not shaded: fewer than ten rankings." in texts_of(figure)
    assert "GPT-5.1 .73 (n 3)" in figure.description


def test_a_curve_says_in_words_whether_it_may_be_chance() -> None:
    figure = figures(a_bias())[SLOTS]

    texts = texts_of(figure)
    strong = [mark for mark in marks_of(figure, "s-first") if mark.attrib["stroke-width"] == "1.5"]
    assert texts[texts.index("Qwen 3") + 1] == "beyond chance, p < .001"
    assert texts[texts.index("GPT-5.1") + 1] == "may be chance, p .610"
    assert "Qwen Coder" not in texts  # nothing is known of it
    assert len(strong) == 1


def test_the_bars_mark_chance_and_say_who_may_be_chance() -> None:
    texts = texts_of(figures(a_bias())[KEPT])
    worse = a_judge(kept=Effect(40, AUDITS, 0.2, (0.1, 0.3)))

    assert "chance, 50 %" in texts
    assert texts[texts.index("Qwen 3") + 1] == "56 %, may be chance"
    assert texts[texts.index("GPT-5.1") + 1] == "93 %"
    assert "20 %, worse than chance" in texts_of(figures(a_bias(judges=(worse,)))[KEPT])


def test_too_many_judges_are_left_to_the_tables() -> None:
    many = tuple(a_judge(f"openai/model-{number}") for number in range(12))
    seats = tuple(judge.judge for judge in many)
    drawn = figures(a_bias(judges=many, given=some_given(seats)))

    assert_stays_on_the_canvas(*drawn.values())
    for figure in drawn.values():
        assert "2 more judges in the tables." in texts_of(figure)


def test_what_is_not_known_is_not_drawn() -> None:
    blind = tuple(one for one in some_given() if one.judge != one.author)
    fair, empty = a_judge(kept=Effect(0, AUDITS)), make_bias_view(NOTHING, Coverage(), {})

    assert [*figures(a_bias(judges=(fair,)))] == [GIVEN, SLOTS]
    texts = texts_of(heat_map(given=blind))
    assert "No judge saw its own answer; audit rankings would show that." in texts
    assert render_combined_bias_png(empty).startswith(PNG)
