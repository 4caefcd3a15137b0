"""The page of leaderboards: chosen and sorted through links alone, with its figure and files."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from bot.bakeoffs.bias_report import BiasPage, bias_shelf, bias_sought, shown_bias
from bot.bakeoffs.leaderboard import (
    LeaderboardPage,
    LeaderboardQuery,
    LeaderboardQueryError,
    parse_query,
    shelf,
    weighed,
)
from bot.bakeoffs.records import records_up_to_date
from bot.render.bias_charts import drawings_of
from bot.render.bias_export import bias_csv, bias_document
from bot.render.bias_findings import covers as _bias_covers
from bot.render.bias_findings import findings
from bot.render.bias_message import TITLE, reading_lines, whole_picture_of
from bot.render.bias_tables import (
    HOW,
    audit_lines,
    caution_lines,
    judge_table,
    side_by_side,
    winning_lines,
    winning_table,
)
from bot.render.bias_view import HOW as HOW_BLINDING
from bot.render.bias_view import ShownBias, brand_table
from bot.render.charts import svg_of
from bot.render.formatting import known_names
from bot.render.leaderboard import HOW_AUTHORS, HOW_JUDGES, figure_of, picture_of
from bot.render.leaderboard_export import board_document, csv_of
from bot.render.leaderboard_tables import (
    Column,
    Leaderboard,
    author_columns,
    covers,
    judge_columns,
    nothing,
    sorted_by,
    telling,
)
from bot.render.leaderboard_text import SHARED, decided, news_lines, worth_lines, worth_table
from bot.render.leaderboard_weighted import weighted_parts
from bot.web.context import WebContext, download

# --- The page of leaderboards: chosen and sorted through links alone, with its figure and files.

OPTIONS = ("suite", "version", "panel", "category", "since", "until", "as", "weights")
MOST_LETTERS = 200
WEIGHTS = (
    ("", "alike"),
    ("consistency", "by order consistency"),
    ("human", "by what people chose"),
    ("family", "by family share"),
    ("peerrank", "by PeerRank"),
)
WINDOWS = (("", "any time"), ("7d", "7 days"), ("30d", "30 days"), ("90d", "90 days"))


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column, and the link that sorts by it; `sorted` is how it is sorted now."""

    title: str
    link: str
    sorted: str
    is_number: bool


async def leaderboard_page(site: WebContext, request: Request) -> Response:
    """Give the leaderboard that the address means."""
    given = options_of(request)
    fault = ""
    try:
        sought = parse_query(given, site.app.now())
    except LeaderboardQueryError as error:
        sought, fault = LeaderboardQuery(), str(error)
    found = await _shelf(site, sought)
    shown = await asyncio.to_thread(_shown, found.shown, sought, request)
    return await site.page(
        request,
        "leaderboard.html",
        status=422 if fault else 200,
        fault=fault,
        board=found.shown,
        sought=sought,
        given=given,
        choices=found.choices,
        windows=WINDOWS,
        weights=WEIGHTS,
        query=urlencode(given),
        **shown,
    )


def options_of(request: Request, names: Sequence[str] = OPTIONS) -> dict[str, str]:
    """Give the options of an address that say something."""
    found = {name: request.query_params.get(name, "") for name in names}
    return {name: value[:MOST_LETTERS].strip() for name, value in found.items() if value.strip()}


async def _shelf(site: WebContext, sought: LeaderboardQuery) -> LeaderboardPage:
    app = site.app
    await records_up_to_date(app)
    found = await shelf(app.bakeoff_stores, sought, known_names(app.panels.values()))
    return replace(found, shown=await weighed(app, sought, found.shown))


def _shown(shown: Leaderboard, sought: LeaderboardQuery, request: Request) -> dict[str, Any]:
    """Give what the page shows of a board, sorted as the address says."""
    wanted = request.query_params.get("sort", "")
    given = options_of(request)
    if sought.as_judge:
        heads, rows = _sorted(
            shown.judges.rows, judge_columns(shown.names, shown.people), wanted, given
        )
    else:
        heads, rows = _sorted(shown.board.rows, author_columns(shown.names), wanted, given)
    rounds = shown.coverage.rounds
    return {
        "heads": heads,
        "rows": rows if rounds else [],
        "news": [*news_lines(shown.changes, shown.names)] if shown.changes else [],
        "how": [HOW_JUDGES] if sought.as_judge else [HOW_AUTHORS, *decided(shown)],
        "figure": svg_of(figure_of(shown.chart)) if rounds and not sought.as_judge else "",
        "weighted": weighted_parts(shown),
        "worth": worth_table(shown),
        "worth_lines": [*worth_lines(shown)],
        "covers": f"{SHARED} {covers(shown.coverage)}" if rounds else nothing(shown.coverage),
    }


def _sorted(
    lines: Sequence[Any], columns: Sequence[Column[Any]], wanted: str, given: Mapping[str, str]
) -> tuple[list[Head], list[list[tuple[str, bool]]]]:
    """Give heads and cells; a column that says nothing of any line is left out."""
    told = telling(lines, columns)
    by = next((column for column in told if column.key == wanted.removeprefix("-")), None)
    turned = wanted.startswith("-")
    ordered = sorted_by(lines, by, turned=turned) if by else [*lines]
    heads = [_head(column, given, is_it=column is by, turned=turned) for column in told]
    return heads, [[(column.shown(x), not column.is_text) for column in told] for x in ordered]


def _head(column: Column[Any], given: Mapping[str, str], *, is_it: bool, turned: bool) -> Head:
    """Give a column's head; its link sorts best first, and once more the other way round."""
    sort = f"-{column.key}" if is_it and not turned else column.key
    rises = column.is_low_best != turned
    how = ("ascending" if rises else "descending") if is_it else ""
    link = f"/leaderboard?{urlencode({**given, 'sort': sort})}"
    return Head(column.title or "Place", link, how, not column.is_text)


async def as_csv(site: WebContext, request: Request) -> Response:
    """Give the leaderboard as a table for spreadsheets."""
    board, sought = await _board(site, request)
    return download("leaderboard.csv", csv_of(board, as_judge=sought.as_judge), "text/csv")


async def as_json(site: WebContext, request: Request) -> Response:
    """Give the leaderboard as `council leaderboard --json` prints it."""
    board, sought = await _board(site, request)
    document = board_document(board, as_judge=sought.as_judge)
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return download("leaderboard.json", text, "application/json")


async def as_png(site: WebContext, request: Request) -> Response:
    """Give the leaderboard's figure as a picture."""
    board, _ = await _board(site, request)
    return download("leaderboard.png", await asyncio.to_thread(picture_of, board), "image/png")


async def _board(site: WebContext, request: Request) -> tuple[Leaderboard, LeaderboardQuery]:
    sought = parse_query(options_of(request), site.app.now())
    return (await _shelf(site, sought)).shown, sought


# --- The page on the bias of judges: chosen through links alone, with its figures and files.

BIAS_OPTIONS = ("suite", "panel", "category", "since", "until")


async def bias_page(site: WebContext, request: Request) -> Response:
    """Give the bias of judges over the rounds that the address means."""
    given = options_of(request, BIAS_OPTIONS)
    fault = ""
    try:
        sought = bias_sought(given, site.app.now())
    except LeaderboardQueryError as error:
        sought, fault = LeaderboardQuery(), str(error)
    found = await _bias_shelf(site, sought)
    shown = await asyncio.to_thread(_bias_shown, found.shown)
    return await site.page(
        request,
        "bias.html",
        status=422 if fault else 200,
        title=TITLE,
        fault=fault,
        given=given,
        choices=found.choices,
        windows=WINDOWS,
        query=urlencode(given),
        **shown,
    )


async def _bias_shelf(site: WebContext, sought: LeaderboardQuery) -> BiasPage:
    app = site.app
    return await bias_shelf(app, sought, known_names(app.panels.values()), app.measure_bias)


def _bias_shown(bias: ShownBias) -> dict[str, Any]:
    """Give what the page shows of a report."""
    has_rounds = bool(bias.report.rounds)
    return {
        "has_rounds": has_rounds,
        "covers": _bias_covers(bias),
        "findings": findings(bias) if has_rounds else (),
        "cautions": [*caution_lines(bias)] if has_rounds else [],
        "beside": side_by_side(bias),
        "judges": [(bias.name(x.judge), judge_table(bias, x)) for x in bias.report.judges],
        "drawings": [(drawing, svg_of(drawing.figure)) for drawing in drawings_of(bias)],
        "changed": brand_table(bias),
        "how_blinding": HOW_BLINDING,
        "wins": winning_table(bias),
        "win_lines": [*winning_lines(bias)],
        "how_winning": HOW,
        "audits": [*audit_lines(bias)],
        "reading": [*reading_lines(bias)],
    }


async def bias_as_csv(site: WebContext, request: Request) -> Response:
    """Give every measure as a table for spreadsheets."""
    return download("bias.csv", bias_csv(await _bias(site, request)), "text/csv")


async def bias_as_json(site: WebContext, request: Request) -> Response:
    """Give the report as `council bias --rounds --json` prints it."""
    document = bias_document(await _bias(site, request))
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    return download("bias.json", text, "application/json")


async def bias_as_png(site: WebContext, request: Request) -> Response:
    """Give the figures as one picture."""
    bias = await _bias(site, request)
    return download("bias.png", await asyncio.to_thread(whole_picture_of, bias), "image/png")


async def _bias(site: WebContext, request: Request) -> ShownBias:
    app = site.app
    sought = bias_sought(options_of(request, BIAS_OPTIONS), app.now())
    return await shown_bias(app, sought, known_names(app.panels.values()), app.measure_bias)
