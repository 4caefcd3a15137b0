"""Handlers of the report pages: leaderboard and bias, with their charts and downloads."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from bot.bakeoffs.bias_report import (
    load_bias,
    load_bias_page,
    mark_biased_judges,
    parse_bias_query,
)
from bot.bakeoffs.leaderboard import (
    Choices,
    LeaderboardQuery,
    LeaderboardQueryError,
    load_leaderboard_page,
    parse_query,
)
from bot.bakeoffs.parts import add_to_leaderboard, bakeoff_settings, bakeoff_stores
from bot.bakeoffs.records import update_records
from bot.bakeoffs.render.bias_charts import render_drawings
from bot.bakeoffs.render.bias_export import bias_csv, bias_document
from bot.bakeoffs.render.bias_findings import bias_coverage_line as bias_covers
from bot.bakeoffs.render.bias_findings import findings, missing_line, plain_findings
from bot.bakeoffs.render.bias_message import BIAS_TITLE, reading_lines, render_combined_bias_png
from bot.bakeoffs.render.bias_tables import BLINDING_NOTE as HOW_BLINDING
from bot.bakeoffs.render.bias_tables import (
    WINNING_NOTE,
    BiasView,
    audit_lines,
    brand_table,
    caution_lines,
    check_lines,
    judge_table,
    judges_legend,
    judges_table,
    winning_lines,
    winning_table,
)
from bot.bakeoffs.render.bias_verdicts import (
    CHAIRMAN_NOTE,
    VERDICT_NOTE,
    chairman_lines,
    chairmen_table,
    verdict_lines,
    verdict_table,
)
from bot.bakeoffs.render.headline import leading_lines, missing_lines
from bot.bakeoffs.render.leaderboard import (
    HOW_AUTHORS,
    HOW_JUDGES,
    render_figure,
    render_leaderboard_png,
)
from bot.bakeoffs.render.leaderboard_export import leaderboard_csv, leaderboard_document
from bot.bakeoffs.render.leaderboard_tables import (
    Column,
    Leaderboard,
    author_columns,
    author_summary_columns,
    coverage_line,
    judge_columns,
    no_rounds_line,
    nonempty_columns,
    sort_lines,
)
from bot.bakeoffs.render.leaderboard_text import (
    change_lines,
    claim_lines,
    council_value_lines,
    council_value_table,
    footnote_lines,
)
from bot.render.charts import render_svg
from bot.render.formatting import panel_seat_names
from bot.web.context import WebContext, file_response, query_options
from council.bakeoffs.leaderboard import RankedBy

LEADERBOARD_OPTIONS = ("suite", "version", "panel", "category", "since", "until", "as", "weights")
BIAS_OPTIONS = ("suite", "panel", "category", "since", "until")
WEIGHTS = (
    ("", "alike"),
    ("consistency", "by order consistency"),
    ("human", "by what people chose"),
    ("family", "by family share"),
    ("peerrank", "by PeerRank"),
    ("independence", "by independence"),
)
WINDOWS = (("", "any time"), ("7d", "7 days"), ("30d", "30 days"), ("90d", "90 days"))


ParseQuery = Callable[[Mapping[str, str], datetime], LeaderboardQuery]


def _read_filters(
    context: WebContext, options: Mapping[str, str], parse: ParseQuery
) -> tuple[LeaderboardQuery, dict[str, Any]]:
    """Return the query of the options, and template values; wrong options select everything."""
    query, fault = LeaderboardQuery(), ""
    try:
        query = parse(options, context.app.now())
    except LeaderboardQueryError as error:
        fault = str(error)
    return query, {
        "status": 422 if fault else 200,
        "fault": fault,
        "given": options,
        "windows": WINDOWS,
        "query": urlencode(options),
    }


_MEDIA_TYPES = {"csv": "text/csv", "json": "application/json", "png": "image/png"}


async def report_file(
    request: Request, name: str, **renders: Callable[[], str | bytes | Mapping[str, Any]]
) -> Response:
    """Return a report as the file of the format that the path names; 404 for any other."""
    kind = request.path_params["format"]
    if kind not in renders:
        raise HTTPException(404)
    content = await asyncio.to_thread(renders[kind])
    if not isinstance(content, str | bytes):
        content = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
    return file_response(f"{name}.{kind}", content, _MEDIA_TYPES[kind])


# --- Leaderboard


async def leaderboard_page(context: WebContext, request: Request) -> Response:
    """Show the leaderboard that the query selects; a wrong query shows all of it with the error."""
    options = query_options(request, LEADERBOARD_OPTIONS)
    query, filters = _read_filters(context, options, parse_query)
    board, choices = await _load_leaderboard(context, query)
    sort = request.query_params.get("sort", "")
    values = await asyncio.to_thread(_leaderboard_values, board, query, options, sort)
    return await context.render_page(
        request,
        "leaderboard.html",
        board=board,
        selected=query,
        choices=choices,
        weights=WEIGHTS,
        **filters,
        **values,
    )


async def download_leaderboard(context: WebContext, request: Request) -> Response:
    """Return the leaderboard as CSV, as `council leaderboard --json` prints it, or as an image."""
    options = query_options(request, LEADERBOARD_OPTIONS)
    query = parse_query(options, context.app.now())
    board, _ = await _load_leaderboard(context, query)
    return await report_file(
        request,
        "leaderboard",
        csv=partial(leaderboard_csv, board, as_judge=query.as_judge),
        json=partial(leaderboard_document, board, as_judge=query.as_judge),
        png=partial(render_leaderboard_png, board),
    )


async def _load_leaderboard(
    context: WebContext, query: LeaderboardQuery
) -> tuple[Leaderboard, Choices]:
    app = context.app
    await update_records(app)
    names = panel_seat_names(app.panels.values())
    board, choices = await load_leaderboard_page(bakeoff_stores(app), query, names)
    board = await mark_biased_judges(app, query, board)
    board = await add_to_leaderboard(app, query.wanted, query.weights, board)
    return board, choices


def _leaderboard_values(
    board: Leaderboard, query: LeaderboardQuery, options: Mapping[str, str], sort: str
) -> dict[str, Any]:
    rows: Sequence[Any] = board.judges.rows if query.as_judge else board.board.rows
    columns = judge_columns(board) if query.as_judge else author_columns(board)
    shown = columns if query.as_judge else _columns_next_to_chart(board)
    rounds = board.coverage.rounds
    keys = {column.key for column in shown}
    return {
        "has_rounds": bool(rounds),
        "table": _sorted_table(rows, shown, sort, options),
        "all_columns": None if query.as_judge else _sorted_table(rows, columns, sort, options),
        "is_all_open": bool(sort) and sort.removeprefix("-") not in keys,
        "missing": [*missing_lines(board)],
        "headline": [] if query.as_judge else [*leading_lines(board)],
        "footnotes": [] if query.as_judge else [*footnote_lines(board)],
        "news": [*change_lines(board.changes, board.names)] if board.changes else [],
        "how": [HOW_JUDGES] if query.as_judge else [HOW_AUTHORS, *claim_lines(board)],
        "figure": render_svg(render_figure(board)) if rounds and not query.as_judge else "",
        "weighted": board.weighted.parts if board.weighted else (),
        "worth": council_value_table(board) if board.worth.is_decided else None,
        "worth_lines": [*council_value_lines(board)],
        "covers": coverage_line(board.coverage) if rounds else no_rounds_line(board.coverage),
    }


def _columns_next_to_chart(board: Leaderboard) -> Sequence[Column]:
    """Return the first columns of authors without the two whose numbers the chart has."""
    is_graded = board.board.ranked_by is RankedBy.GRADES
    charted = {"accuracy", "grade_ci"} if is_graded else {"share", "ci"}
    return [column for column in author_summary_columns(board) if column.key not in charted]


def _sorted_table(
    rows: Sequence[Any], columns: Sequence[Column], sort: str, options: Mapping[str, str]
) -> dict[str, Any]:
    """Return the template values of a table: rows, and columns with their links and order.

    A column that is empty in every row is left out. The link sorts best first, or worst first if
    the table is sorted so already.
    """
    shown = nonempty_columns(rows, columns)
    by = next((column for column in shown if column.key == sort.removeprefix("-")), None)
    is_reversed = sort.startswith("-")
    heads = []
    for column in shown:
        key = f"-{column.key}" if column is by and not is_reversed else column.key
        order = "ascending" if column.is_low_best != is_reversed else "descending"
        link = f"/leaderboard?{urlencode({**options, 'sort': key})}"
        heads.append((column, link, order if column is by else ""))
    return {"heads": heads, "rows": sort_lines(rows, by, turned=is_reversed) if by else rows}


# --- Bias


async def bias_page(context: WebContext, request: Request) -> Response:
    """Show the judges' bias over the rounds that the query selects."""
    app, options = context.app, query_options(request, BIAS_OPTIONS)
    query, filters = _read_filters(context, options, parse_bias_query)
    names = panel_seat_names(app.panels.values())
    bias, choices = await load_bias_page(app, query, names, bakeoff_settings(app).measure_bias)
    values = await asyncio.to_thread(_bias_values, bias)
    return await context.render_page(
        request, "bias.html", title=BIAS_TITLE, choices=choices, **filters, **values
    )


async def bias_charts_page(context: WebContext, request: Request) -> Response:
    """Show the charts of the bias report that the query selects."""
    app = context.app
    options = query_options(request, BIAS_OPTIONS)
    query, filters = _read_filters(context, options, parse_bias_query)
    names = panel_seat_names(app.panels.values())
    bias = await load_bias(app, query, names, bakeoff_settings(app).measure_bias)
    drawings = await asyncio.to_thread(
        lambda: [(drawing, render_svg(drawing.figure)) for drawing in render_drawings(bias)]
    )
    return await context.render_page(
        request, "bias_charts.html", title="Charts of bias", drawings=drawings, **filters
    )


async def download_bias(context: WebContext, request: Request) -> Response:
    """Return every measure as CSV, as `council bias --rounds --json` prints it, or all charts."""
    app = context.app
    query = parse_bias_query(query_options(request, BIAS_OPTIONS), app.now())
    names = panel_seat_names(app.panels.values())
    bias = await load_bias(app, query, names, bakeoff_settings(app).measure_bias)
    return await report_file(
        request,
        "bias",
        csv=partial(bias_csv, bias),
        json=partial(bias_document, bias),
        png=partial(render_combined_bias_png, bias),
    )


def _bias_values(bias: BiasView) -> dict[str, Any]:
    has_rounds = bool(bias.report.rounds)
    return {
        "has_rounds": has_rounds,
        "covers": bias_covers(bias),
        "found": plain_findings(bias) if has_rounds else (),
        "findings": findings(bias) if has_rounds else (),
        "cautions": [*caution_lines(bias)] if has_rounds else [],
        "missing": missing_line(bias) if has_rounds else "",
        "judges_table": (table := judges_table(bias)),
        "judges_legend": judges_legend(table) if table else "",
        "judges": [
            (bias.name(judge.judge), measured)
            for judge in bias.report.judges
            if (measured := judge_table(bias, judge)).rows
        ],
        "changed": brand_table(bias),
        "how_blinding": HOW_BLINDING,
        "wins": winning_table(bias),
        "win_lines": [*winning_lines(bias)],
        "how_winning": WINNING_NOTE,
        "audits": [*audit_lines(bias)],
        "checks": [*check_lines(bias)],
        "verdicts": verdict_table(bias),
        "verdict_lines": [*verdict_lines(bias.report.verdicts)],
        "how_verdicts": VERDICT_NOTE,
        "chairmen": chairmen_table(bias),
        "chairman_lines": [*chairman_lines(bias)],
        "how_chairmen": CHAIRMAN_NOTE,
        "how": [*reading_lines(bias)],
    }
