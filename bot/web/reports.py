"""Handlers of the report pages: leaderboard and bias, with their charts and downloads."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from bot.bakeoffs.bias_report import load_bias, load_bias_page, parse_bias_query
from bot.bakeoffs.leaderboard import (
    LeaderboardPage,
    LeaderboardQuery,
    LeaderboardQueryError,
    load_leaderboard_page,
    parse_query,
)
from bot.bakeoffs.records import update_records
from bot.render.bias_charts import render_drawings
from bot.render.bias_export import bias_csv, bias_document
from bot.render.bias_findings import bias_coverage_line as bias_covers
from bot.render.bias_findings import findings
from bot.render.bias_message import BIAS_TITLE, reading_lines, render_combined_bias_png
from bot.render.bias_tables import (
    WINNING_NOTE,
    audit_lines,
    caution_lines,
    judge_table,
    judges_table,
    winning_lines,
    winning_table,
)
from bot.render.bias_view import BLINDING_NOTE as HOW_BLINDING
from bot.render.bias_view import BiasView, brand_table
from bot.render.charts import render_svg
from bot.render.formatting import panel_seat_names
from bot.render.leaderboard import HOW_AUTHORS, HOW_JUDGES, render_figure, render_leaderboard_png
from bot.render.leaderboard_export import leaderboard_csv, leaderboard_document
from bot.render.leaderboard_tables import (
    Column,
    Leaderboard,
    author_columns,
    coverage_line,
    judge_columns,
    no_rounds_line,
    nonempty_columns,
    sort_lines,
)
from bot.render.leaderboard_text import (
    SHARED_PLACES_NOTE,
    change_lines,
    council_value_lines,
    council_value_table,
    decision_lines,
)
from bot.web.context import WebContext, file_response

LEADERBOARD_OPTIONS = (
    "suite",
    "version",
    "panel",
    "category",
    "since",
    "until",
    "as",
    "weights",
)
BIAS_OPTIONS = ("suite", "panel", "category", "since", "until")
MAX_OPTION_LENGTH = 200
WEIGHTS = (
    ("", "alike"),
    ("consistency", "by order consistency"),
    ("human", "by what people chose"),
    ("family", "by family share"),
    ("peerrank", "by PeerRank"),
)
WINDOWS = (("", "any time"), ("7d", "7 days"), ("30d", "30 days"), ("90d", "90 days"))


def options_of(request: Request, names: Sequence[str] = LEADERBOARD_OPTIONS) -> dict[str, str]:
    """Return the query options that are not empty, each cut to `MAX_OPTION_LENGTH`."""
    found = {name: request.query_params.get(name, "") for name in names}
    return {
        name: value[:MAX_OPTION_LENGTH].strip() for name, value in found.items() if value.strip()
    }


# Leaderboard


@dataclass(frozen=True, slots=True)
class Head:
    """A column head with the link that sorts by it; `sorted` is the current order, or ""."""

    title: str
    link: str
    sorted: str
    is_number: bool


async def leaderboard_page(context: WebContext, request: Request) -> Response:
    """Show the leaderboard that the query selects; a wrong query shows all of it with the error."""
    options = options_of(request)
    fault = ""
    try:
        query = parse_query(options, context.app.now())
    except LeaderboardQueryError as error:
        query, fault = LeaderboardQuery(), str(error)
    found = await _leaderboard_page(context, query)
    values = await asyncio.to_thread(_leaderboard_values, found.shown, query, request)
    return await context.render_page(
        request,
        "leaderboard.html",
        status=422 if fault else 200,
        fault=fault,
        board=found.shown,
        sought=query,
        given=options,
        choices=found.choices,
        windows=WINDOWS,
        weights=WEIGHTS,
        query=urlencode(options),
        **values,
    )


async def download_leaderboard_csv(context: WebContext, request: Request) -> Response:
    """Return the leaderboard as CSV."""
    board, query = await _load_leaderboard(context, request)
    return file_response(
        "leaderboard.csv", leaderboard_csv(board, as_judge=query.as_judge), "text/csv"
    )


async def download_leaderboard_json(context: WebContext, request: Request) -> Response:
    """Return the leaderboard as `council leaderboard --json` prints it."""
    board, query = await _load_leaderboard(context, request)
    document = leaderboard_document(board, as_judge=query.as_judge)
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return file_response("leaderboard.json", text, "application/json")


async def download_leaderboard_png(context: WebContext, request: Request) -> Response:
    """Return the leaderboard's chart as an image."""
    board, _ = await _load_leaderboard(context, request)
    image = await asyncio.to_thread(render_leaderboard_png, board)
    return file_response("leaderboard.png", image, "image/png")


async def _load_leaderboard(
    context: WebContext, request: Request
) -> tuple[Leaderboard, LeaderboardQuery]:
    query = parse_query(options_of(request), context.app.now())
    return (await _leaderboard_page(context, query)).shown, query


async def _leaderboard_page(context: WebContext, query: LeaderboardQuery) -> LeaderboardPage:
    app = context.app
    await update_records(app)
    found = await load_leaderboard_page(
        app.bakeoff_stores, query, panel_seat_names(app.panels.values())
    )
    board = await app.research.add_to_leaderboard(app, query.wanted, query.weights, found.shown)
    return replace(found, shown=board)


def _leaderboard_values(
    board: Leaderboard, query: LeaderboardQuery, request: Request
) -> dict[str, Any]:
    """Return the template values of a leaderboard, sorted as the query says."""
    sort = request.query_params.get("sort", "")
    options = options_of(request)
    if query.as_judge:
        columns = judge_columns(board.names, board.people)
        heads, rows = _sort_table(board.judges.rows, columns, sort, options)
    else:
        heads, rows = _sort_table(board.board.rows, author_columns(board.names), sort, options)
    rounds = board.coverage.rounds
    return {
        "heads": heads,
        "rows": rows if rounds else [],
        "news": [*change_lines(board.changes, board.names)] if board.changes else [],
        "how": [HOW_JUDGES] if query.as_judge else [HOW_AUTHORS, *decision_lines(board)],
        "figure": render_svg(render_figure(board.chart)) if rounds and not query.as_judge else "",
        "weighted": board.weighted.parts if board.weighted else (),
        "worth": council_value_table(board),
        "worth_lines": [*council_value_lines(board)],
        "covers": f"{SHARED_PLACES_NOTE} {coverage_line(board.coverage)}"
        if rounds
        else no_rounds_line(board.coverage),
    }


def _sort_table(
    rows: Sequence[Any], columns: Sequence[Column[Any]], sort: str, options: Mapping[str, str]
) -> tuple[list[Head], list[list[tuple[str, bool]]]]:
    """Return heads and rows of cells; a column that is empty in every row is left out.

    A cell is its text and whether its column holds numbers.
    """
    shown = nonempty_columns(rows, columns)
    by = next((column for column in shown if column.key == sort.removeprefix("-")), None)
    is_reversed = sort.startswith("-")
    ordered = sort_lines(rows, by, turned=is_reversed) if by else [*rows]
    heads = [
        _head(column, options, is_sorted=column is by, is_reversed=is_reversed) for column in shown
    ]
    return heads, [[(column.shown(x), not column.is_text) for column in shown] for x in ordered]


def _head(
    column: Column[Any], options: Mapping[str, str], *, is_sorted: bool, is_reversed: bool
) -> Head:
    """Return a column's head; its link sorts best first, or worst first if it is sorted already."""
    sort = f"-{column.key}" if is_sorted and not is_reversed else column.key
    is_ascending = column.is_low_best != is_reversed
    order = ("ascending" if is_ascending else "descending") if is_sorted else ""
    link = f"/leaderboard?{urlencode({**options, 'sort': sort})}"
    return Head(column.title or "Place", link, order, not column.is_text)


# Bias


async def bias_page(context: WebContext, request: Request) -> Response:
    """Show the judges' bias over the rounds that the query selects."""
    options = options_of(request, BIAS_OPTIONS)
    fault = ""
    try:
        query = parse_bias_query(options, context.app.now())
    except LeaderboardQueryError as error:
        query, fault = LeaderboardQuery(), str(error)
    app = context.app
    found = await load_bias_page(
        app, query, panel_seat_names(app.panels.values()), app.measure_bias
    )
    values = await asyncio.to_thread(_bias_values, found.shown)
    return await context.render_page(
        request,
        "bias.html",
        status=422 if fault else 200,
        title=BIAS_TITLE,
        fault=fault,
        given=options,
        choices=found.choices,
        windows=WINDOWS,
        query=urlencode(options),
        **values,
    )


async def download_bias_csv(context: WebContext, request: Request) -> Response:
    """Return every measure as CSV."""
    return file_response("bias.csv", bias_csv(await _load_bias(context, request)), "text/csv")


async def download_bias_json(context: WebContext, request: Request) -> Response:
    """Return the report as `council bias --rounds --json` prints it."""
    document = bias_document(await _load_bias(context, request))
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    return file_response("bias.json", text, "application/json")


async def download_bias_png(context: WebContext, request: Request) -> Response:
    """Return all charts as one image."""
    bias = await _load_bias(context, request)
    image = await asyncio.to_thread(render_combined_bias_png, bias)
    return file_response("bias.png", image, "image/png")


async def _load_bias(context: WebContext, request: Request) -> BiasView:
    app = context.app
    query = parse_bias_query(options_of(request, BIAS_OPTIONS), app.now())
    return await load_bias(app, query, panel_seat_names(app.panels.values()), app.measure_bias)


def _bias_values(bias: BiasView) -> dict[str, Any]:
    """Return the template values of a bias report."""
    has_rounds = bool(bias.report.rounds)
    return {
        "has_rounds": has_rounds,
        "covers": bias_covers(bias),
        "findings": findings(bias) if has_rounds else (),
        "cautions": [*caution_lines(bias)] if has_rounds else [],
        "beside": judges_table(bias),
        "judges": [(bias.name(x.judge), judge_table(bias, x)) for x in bias.report.judges],
        "drawings": [(drawing, render_svg(drawing.figure)) for drawing in render_drawings(bias)],
        "changed": brand_table(bias),
        "how_blinding": HOW_BLINDING,
        "wins": winning_table(bias),
        "win_lines": [*winning_lines(bias)],
        "how_winning": WINNING_NOTE,
        "audits": [*audit_lines(bias)],
        "reading": [*reading_lines(bias)],
    }
