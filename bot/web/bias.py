"""The page on the bias of judges: chosen through links alone, with its figures and files."""

import asyncio
import json
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from bot.bakeoffs.bias_report import BiasShelf, bias_shelf, bias_sought, shown_bias
from bot.bakeoffs.leaderboard import Sought, SoughtError
from bot.render.bias_charts import drawings_of
from bot.render.bias_export import bias_csv, bias_document
from bot.render.bias_findings import covers, findings
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
from bot.web.boards import WINDOWS, options_of
from bot.web.downloads import download
from bot.web.site import Site

OPTIONS = ("suite", "panel", "category", "since", "until")


async def bias_page(site: Site, request: Request) -> Response:
    """Give the bias of judges over the rounds that the address means."""
    given = options_of(request, OPTIONS)
    fault = ""
    try:
        sought = bias_sought(given, site.desk.now())
    except SoughtError as error:
        sought, fault = Sought(), str(error)
    found = await _shelf(site, sought)
    shown = await asyncio.to_thread(_shown, found.shown)
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


async def _shelf(site: Site, sought: Sought) -> BiasShelf:
    desk = site.desk
    return await bias_shelf(desk, sought, known_names(desk.panels.values()), desk.measure_bias)


def _shown(bias: ShownBias) -> dict[str, Any]:
    """Give what the page shows of a report."""
    has_rounds = bool(bias.report.rounds)
    return {
        "has_rounds": has_rounds,
        "covers": covers(bias),
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


async def as_csv(site: Site, request: Request) -> Response:
    """Give every measure as a table for spreadsheets."""
    return download("bias.csv", bias_csv(await _bias(site, request)), "text/csv")


async def as_json(site: Site, request: Request) -> Response:
    """Give the report as `council bias --rounds --json` prints it."""
    document = bias_document(await _bias(site, request))
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    return download("bias.json", text, "application/json")


async def as_png(site: Site, request: Request) -> Response:
    """Give the figures as one picture."""
    bias = await _bias(site, request)
    return download("bias.png", await asyncio.to_thread(whole_picture_of, bias), "image/png")


async def _bias(site: Site, request: Request) -> ShownBias:
    desk = site.desk
    sought = bias_sought(options_of(request, OPTIONS), desk.now())
    return await shown_bias(desk, sought, known_names(desk.panels.values()), desk.measure_bias)
