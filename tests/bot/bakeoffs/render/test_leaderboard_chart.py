"""The leaderboard's chart: what it draws, that it stays on its canvas, and SVG and PNG."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.bakeoffs.render.leaderboard import axis_range, axis_ticks, describe_chart, render_figure
from bot.bakeoffs.render.leaderboard_tables import MAX_RUNS, Coverage, Leaderboard
from bot.render.charts import PNG_SCALE, WIDTH, render_png
from council.bakeoffs.changes import TrendPoint, TrendRun
from council.bakeoffs.intervals import Interval
from council.bakeoffs.leaderboard import AuthorLine, Board, JudgeBoard
from tests.bot.bakeoffs.render.boards.builders import a_leaderboard
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
    lambda x: (sorted(x)[1], (sorted(x)[0], sorted(x)[2]))
)
names = st.text(max_size=5) | st.sampled_from(["W" * 60, "Qwen 3 (ollama/qwen3)", "\x00", EVIL])
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
HALF = (0.5, (0.5, 0.5))
NONE: Interval = (0.0, 1.0)

Spread = tuple[float, Interval]


def a_chart(
    *rows: tuple[str, int | None, Spread | None], runs: Sequence[Sequence[Spread | None]] = ()
) -> Leaderboard:
    """Return a board of these names, places and shares, and of a share for each in every run."""
    lines = tuple(
        AuthorLine(str(key), place, spread[0] if spread else None, spread[1] if spread else NONE, 9)
        for key, (_, place, spread) in enumerate(rows)
    )
    trend = tuple(
        TrendRun(
            str(number),
            FIRST + timedelta(number),
            tuple(TrendPoint(str(key), *one, 9) for key, one in enumerate(run) if one),
        )
        for number, run in enumerate(runs)
    )
    named = {str(key): name for key, (name, _, _) in enumerate(rows)}
    board, judges = Board(lines, None, (), 9), JudgeBoard((), 9)
    return Leaderboard(Coverage(9), board, judges, runs=trend, names=named)


@st.composite
def charts(draw: st.DrawFn) -> Leaderboard:
    runs, times = draw(st.integers(0, 3)), draw(st.sampled_from([1, MAX_RUNS]))
    places = st.none() | st.integers(1, 12)
    rows = draw(st.lists(st.tuples(names, places, spreads), max_size=3))
    run = st.lists(spreads, min_size=len(rows), max_size=len(rows))
    return a_chart(*rows, runs=draw(st.lists(run, min_size=runs, max_size=runs)) * times)


def assert_is_drawn_well(board: Leaderboard) -> None:
    assert_stays_on_the_canvas(render_figure(board))
    assert_fits_the_page(render_figure(board))


@settings(max_examples=8)
@given(charts())
def test_any_chart_stays_on_its_canvas_and_fits_the_page(chart: Leaderboard) -> None:
    assert_is_drawn_well(chart)


@pytest.mark.nightly
@settings(max_examples=200)
@given(charts())
def test_many_charts_stay_on_their_canvas_and_fit_the_page(chart: Leaderboard) -> None:
    assert_is_drawn_well(chart)


def test_every_member_has_its_place_and_share() -> None:
    figure = render_figure(a_leaderboard())

    texts = texts_of(figure)
    assert "Share of rivals beaten, 95 % interval" in texts
    assert texts[texts.index("Claude Sonnet 4.6") - 1 :][:3] == ["=1", "Claude Sonnet 4.6", "71 %"]
    assert "Gemini 3 Pro" in texts


def test_a_long_name_has_two_lines_and_is_cut_if_it_needs_more() -> None:
    texts = texts_of(render_figure(a_leaderboard()))
    wide = a_chart(("W" * 90, 1, HALF))

    assert {"Mistral Large 3", "(Europe, long context)"} <= {*texts}
    assert any(text.endswith("W…") for text in texts_of(render_figure(wide)))


def test_a_trend_needs_two_runs() -> None:
    board = a_leaderboard()
    alone = replace(board, runs=board.runs[:1])

    several, one = (texts_of(render_figure(shown)) for shown in (board, alone))

    assert {"12 Oct", "16 Nov"} <= {*several}
    assert not {"12 Oct", "16 Nov"} & {*one}


def test_a_missed_run_interrupts_the_trend_line() -> None:
    point, missed = (0.5, (0.4, 0.6)), None
    chart = a_chart(("A", 1, point), runs=[[x] for x in (point, point, missed, point, point)])
    alone = a_chart(("A", 1, point), runs=[[missed], [point], [missed]])

    [trend] = [
        path
        for path in marks_of(render_figure(chart), "s-first")
        if path.attrib["stroke-width"] == "1.5"
    ]

    assert trend.attrib["d"].count("M") == 2
    assert marks_of(render_figure(alone), "s-first-band")  # a run between missed ones


def test_the_description_names_every_member() -> None:
    text = describe_chart(a_leaderboard())

    assert "=1. Claude Sonnet 4.6: Points 71 % · 95 % interval 65–77 %" in text
    assert describe_chart(a_chart()) == "No model has points yet."


@given(st.lists(st.tuples(shares, shares), max_size=5))
def test_the_axis_covers_all_shares_and_one_half(found: list[Interval]) -> None:
    low, high = axis_range(found)

    ticks = [*axis_ticks(low, high)]
    assert all(low - 1e-9 <= end <= high + 1e-9 for ends in found for end in ends)
    assert 0.5 in ticks
    assert len(ticks) <= 6
    assert all(low <= tick <= high for tick in ticks)


@pytest.mark.parametrize("name", ["$x^2$ and $\\frac", "a_b", "\x00\x1b[31m", "", "模型", EVIL])
def test_any_name_is_drawn(name: str) -> None:
    assert_is_drawn_well(a_chart((name, 1, HALF)))


def test_the_png_is_deterministic_and_as_large_as_the_figure() -> None:
    figure = render_figure(a_leaderboard())

    first, second = render_png(figure), render_png(figure)

    width, height = (int.from_bytes(first[at : at + 4]) for at in (16, 20))
    assert first == second
    assert first.startswith(PNG)
    assert (width, height) == (round(WIDTH * PNG_SCALE), round(figure.height * PNG_SCALE))
