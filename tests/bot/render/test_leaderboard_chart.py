"""The leaderboard's chart: what it draws, that it stays on its canvas, and SVG and PNG."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.render.charts import PNG_SCALE, WIDTH, render_png
from bot.render.leaderboard import render_figure
from bot.render.leaderboard_tables import (
    MAX_RUNS,
    Bar,
    Chart,
    Spread,
    axis_range,
    axis_ticks,
    describe_chart,
)
from tests.bot.render.boards.builders import a_leaderboard
from tests.bot.render.drawn import (
    EVIL,
    PNG,
    assert_fits_the_page,
    assert_stays_on_the_canvas,
    marks_of,
    texts_of,
)

shares = st.integers(0, 100).map(lambda x: x / 100)
spreads = st.none() | st.tuples(shares, shares, shares).map(
    lambda x: Spread(sorted(x)[1], (sorted(x)[0], sorted(x)[2]))
)
names = st.text(max_size=5) | st.sampled_from(["W" * 60, "Qwen 3 (ollama/qwen3)", "\x00", EVIL])


@st.composite
def charts(draw: st.DrawFn) -> Chart:
    runs, times = draw(st.integers(0, 3)), draw(st.sampled_from([1, MAX_RUNS]))
    bars = [
        Bar(
            draw(names),
            draw(st.none() | st.integers(1, 12)),
            draw(spreads),
            tuple(draw(st.lists(spreads, min_size=runs, max_size=runs))) * times,
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    return Chart(tuple(bars), tuple(date(2026, 1, 1) + timedelta(at) for at in range(runs * times)))


def assert_is_drawn_well(chart: Chart) -> None:
    assert_stays_on_the_canvas(render_figure(chart))
    assert_fits_the_page(render_figure(chart))


@settings(max_examples=8)
@given(charts())
def test_any_chart_stays_on_its_canvas_and_fits_the_page(chart: Chart) -> None:
    assert_is_drawn_well(chart)


@pytest.mark.nightly
@settings(max_examples=200)
@given(charts())
def test_many_charts_stay_on_their_canvas_and_fit_the_page(chart: Chart) -> None:
    assert_is_drawn_well(chart)


def test_every_member_has_its_place_and_share() -> None:
    figure = render_figure(a_leaderboard().chart)

    texts = texts_of(figure)
    assert "Share of rivals beaten, 95 % interval" in texts
    assert texts[texts.index("Claude Sonnet 4.6") - 1 :][:3] == ["=1", "Claude Sonnet 4.6", "71 %"]
    assert "Gemini 3 Pro" in texts


def test_a_long_name_has_two_lines_and_is_cut_if_it_needs_more() -> None:
    texts = texts_of(render_figure(a_leaderboard().chart))
    wide = Chart((Bar("W" * 90, 1, Spread(0.5, (0.5, 0.5))),))

    assert {"Mistral Large 3", "(Europe, long context)"} <= {*texts}
    assert any(text.endswith("W…") for text in texts_of(render_figure(wide)))


def test_a_trend_needs_two_runs() -> None:
    board = a_leaderboard()
    alone = replace(board, runs=board.runs[:1])

    several, one = (texts_of(render_figure(shown.chart)) for shown in (board, alone))

    assert {"12 Oct", "16 Nov"} <= {*several}
    assert not {"12 Oct", "16 Nov"} & {*one}


def test_a_missed_run_interrupts_the_trend_line() -> None:
    point = Spread(0.5, (0.4, 0.6))
    days = tuple(date(2026, 1, day) for day in (1, 2, 3, 4, 5))
    chart = Chart((Bar("A", 1, point, (point, point, None, point, point)),), days)
    alone = Chart((Bar("A", 1, point, (None, point, None)),), days[:3])

    [trend] = [
        path
        for path in marks_of(render_figure(chart), "s-first")
        if path.attrib["stroke-width"] == "1.5"
    ]

    assert trend.attrib["d"].count("M") == 2
    assert marks_of(render_figure(alone), "s-first-band")  # a run between missed ones


def test_the_description_names_every_member() -> None:
    chart = a_leaderboard().chart
    text = describe_chart(chart)

    assert "Claude Sonnet 4.6: place 1, 71 %, 65 % to 77 %" in text
    assert describe_chart(Chart(())) == "No model has points yet."


@given(st.lists(spreads, max_size=5))
def test_the_axis_covers_all_shares_and_one_half(found: list[Spread | None]) -> None:
    low, high = axis_range(found)

    ticks = [*axis_ticks(low, high)]
    reaches = [end for spread in found if spread for end in spread.reach]
    assert all(low - 1e-9 <= end <= high + 1e-9 for end in reaches)
    assert 0.5 in ticks
    assert len(ticks) <= 6
    assert all(low <= tick <= high for tick in ticks)


@pytest.mark.parametrize("name", ["$x^2$ and $\\frac", "a_b", "\x00\x1b[31m", "", "模型", EVIL])
def test_any_name_is_drawn(name: str) -> None:
    assert_is_drawn_well(Chart((Bar(name, 1, Spread(0.5, (0.5, 0.5))),)))


def test_the_png_is_deterministic_and_as_large_as_the_figure() -> None:
    figure = render_figure(a_leaderboard().chart)

    first, second = render_png(figure), render_png(figure)

    width, height = (int.from_bytes(first[at : at + 4]) for at in (16, 20))
    assert first == second
    assert first.startswith(PNG)
    assert (width, height) == (round(WIDTH * PNG_SCALE), round(figure.height * PNG_SCALE))
