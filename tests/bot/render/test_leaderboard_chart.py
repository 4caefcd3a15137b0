"""The leaderboard's chart: its marks, that they fit the canvas, and the SVG and PNG renderers."""

import re
from dataclasses import replace
from datetime import date, timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.render.charts import (
    PNG_SCALE,
    Band,
    Dot,
    Figure,
    Label,
    Mark,
    Path,
    Stroke,
    render_png,
    render_svg,
    text_width,
)
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

PNG = b"\x89PNG\r\n\x1a\n"

shares = st.integers(0, 100).map(lambda x: x / 100)
spreads = st.none() | st.tuples(shares, shares, shares).map(
    lambda x: Spread(sorted(x)[1], sorted(x)[0], sorted(x)[2])
)
names = st.text(max_size=5) | st.sampled_from(["W" * 60, "Qwen 3 (ollama/qwen3)", "\x00"])


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


def corners(mark: Mark) -> list[tuple[float, float]]:
    match mark:
        case Stroke():
            return [(mark.x1, mark.y1), (mark.x2, mark.y2)]
        case Path() | Band():
            return [*mark.points]
        case Dot():
            x, y, r = mark.x, mark.y, mark.radius
            return [(x - r, y - r), (x + r, y + r)]
        case Label():
            wide = text_width(mark.text, mark.size, bold=mark.bold)
            left = mark.x - {"start": 0, "middle": wide / 2, "end": wide}[mark.anchor]
            return [(left, mark.y - mark.size), (left + wide, mark.y)]


def whole(svg: str) -> ElementTree.Element:
    # What we made ourselves can be trusted.
    return ElementTree.fromstring(svg)  # noqa: S314


def words_of(figure: Figure) -> list[str]:
    return [mark.text for mark in figure.marks if isinstance(mark, Label)]


@given(charts())
def test_no_mark_crosses_the_edge(chart: Chart) -> None:
    figure = render_figure(chart)

    for mark in figure.marks:
        for x, y in corners(mark):
            assert -0.5 <= x <= figure.width + 0.5, mark
            assert -0.5 <= y <= figure.height + 0.5, mark


def test_every_member_has_its_place_and_share() -> None:
    figure = render_figure(a_leaderboard().chart)

    text = words_of(figure)
    assert text[0] == "Share of rivals beaten, 95 % interval"
    assert text[text.index("Claude Sonnet 4.6") - 1 :][:3] == ["1", "Claude Sonnet 4.6", "71 %"]
    assert "Gemini 3 Pro" in text
    assert any(words.startswith("Mistral") and words.endswith("…") for words in text)


def test_a_trend_needs_two_runs() -> None:
    board = a_leaderboard()
    alone = replace(board, runs=board.runs[:1])

    several, one = (words_of(render_figure(shown.chart)) for shown in (board, alone))

    assert {"12 Oct", "16 Nov"} <= {*several}
    assert not {"12 Oct", "16 Nov"} & {*one}


def test_a_missed_run_interrupts_the_trend_line() -> None:
    point = Spread(0.5, 0.4, 0.6)
    days = tuple(date(2026, 1, day) for day in (1, 2, 3, 4, 5))
    chart = Chart((Bar("A", 1, point, (point, point, None, point, point)),), days)

    paths = [mark for mark in render_figure(chart).marks if isinstance(mark, Path)]

    assert [len(path.points) for path in paths] == [2, 2]


def test_mixed_panels_are_labelled_as_expected_shares() -> None:
    board = a_leaderboard()
    mixed = replace(board.chart, is_mixed=True)

    assert words_of(render_figure(mixed))[0] == "Rivals beaten, if all met, 95 % interval"


def test_the_description_names_every_member() -> None:
    text = describe_chart(a_leaderboard().chart)

    assert "Claude Sonnet 4.6: place 1, 71 %, 65 % to 77 %" in text
    assert describe_chart(Chart(())) == "No member has a share yet."


@given(st.lists(spreads, max_size=5))
def test_the_axis_covers_all_shares_and_one_half(found: list[Spread | None]) -> None:
    low, high = axis_range(found)

    ticks = [*axis_ticks(low, high)]
    reaches = [end for spread in found if spread for end in spread.reach]
    assert all(low - 1e-9 <= end <= high + 1e-9 for end in reaches)
    assert 0.5 in ticks
    assert len(ticks) <= 6
    assert all(low <= tick <= high for tick in ticks)


@given(charts())
def test_the_svg_is_well_formed_and_has_no_inline_style(chart: Chart) -> None:
    svg = render_svg(render_figure(chart))

    root = whole(svg)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"]
    assert not re.search(r'\sstyle="|<style|<script|\son\w+="', svg)


def test_a_members_name_is_escaped() -> None:
    evil = '</text><script>alert(1)</script>"&'
    chart = Chart((Bar(evil, 1, Spread(0.5)),))

    svg = render_svg(render_figure(chart))

    assert "<script" not in svg
    assert whole(svg).tag.endswith("svg")


def test_the_png_is_deterministic() -> None:
    figure = render_figure(a_leaderboard().chart)

    first, second = render_png(figure), render_png(figure)

    width, height = (int.from_bytes(first[at : at + 4]) for at in (16, 20))
    assert first == second
    assert first.startswith(PNG)
    assert (width, height) == (round(figure.width * PNG_SCALE), round(figure.height * PNG_SCALE))


@pytest.mark.parametrize("name", ["$x^2$ and $\\frac", "a_b", "\x00\x1b[31m", ""])
def test_any_name_is_drawn(name: str) -> None:
    chart = Chart((Bar(name, 1, Spread(0.5)),))

    assert render_png(render_figure(chart)).startswith(PNG)
