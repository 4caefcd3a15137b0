"""Handlers of a bake-off's page: its result question by question, one cell, downloads."""

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from itertools import takewhile
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bot.bakeoffs.baselines import is_blessed
from bot.bakeoffs.lifecycle import is_bakeoff_running, load_progress
from bot.bakeoffs.matrix import earlier_runs, load_matrix, load_results
from bot.bakeoffs.records import update_records
from bot.bakeoffs.render.bakeoffs import bakeoff_title, result_thread, running_post
from bot.bakeoffs.render.leaderboard_text import council_value_lines, council_value_table
from bot.bakeoffs.render.matrix import (
    MATRIX_TITLE,
    cell_class,
    cell_text,
    comparison_lines,
    council_text,
    grade_text,
    grader_lines,
    matrix_csv,
    methods_post,
    totals,
    was_text,
    winner_text,
)
from bot.bakeoffs.render.trials import trial_details
from bot.bakeoffs.web.bakeoffs import bakeoff_path, is_own_bakeoff, load_bakeoff
from bot.bakeoffs.web.reports import report_file
from bot.chat import Prose
from bot.render.formatting import panel_seat_names, seat_names
from bot.web.auth import empty_message
from bot.web.context import WebContext, query_options
from bot.web.round_view import ranking_rows
from council.bakeoffs.matrix import FILTERS, RunMatrix, select_rows
from council.bakeoffs.models import Bakeoff
from council.errors import BakeoffError
from council.labels import Label
from council.money import format_usd
from council.rounds import Round
from council.rubric_grader import grade_reasons, usable_grades

ROWS_AT_ONCE = 100
OPTIONS = ("show", "category", "against")


def _options(request: Request) -> dict[str, str]:
    """Return the filters of a request; unknown ones show everything."""
    given = defaultdict(str, query_options(request, OPTIONS))
    given["show"] = given["show"] if given["show"] in FILTERS else ""
    return given


def _first_row(request: Request) -> int:
    first = request.query_params.get("from", "1")
    return max(1, int(first)) if first.isdecimal() and len(first) < len("1000000") else 1


async def bakeoff_page(context: WebContext, request: Request) -> Response:
    """Show a bake-off: its result question by question, and its progress while it runs."""
    app, bakeoff = context.app, await load_bakeoff(context, request)
    progress = await load_progress(app, bakeoff)
    is_running = await is_bakeoff_running(app, bakeoff)
    options = _options(request)
    runs = await earlier_runs(app, empty_message(request), bakeoff)
    results = await load_results(app, progress, await _load_other(context, request, options, runs))
    is_own = is_own_bakeoff(context, request, bakeoff)
    board, run = results.board, results.run
    tried, known = results.tried, app.panels.get(bakeoff.panel.name)
    thread = result_thread(progress, None, linked=True)
    return await context.render_page(
        request,
        "bakeoff.html",
        bakeoff=bakeoff,
        title=bakeoff_title(bakeoff),
        is_running=is_running,
        cap="" if bakeoff.cap_micro is None else format_usd(bakeoff.cap_micro).replace(",", ""),
        may_resume=not is_running and not progress.is_complete and is_own,
        may_cancel=is_running and is_own,
        may_share=is_own and bakeoff.ending is not None,
        is_baseline=await is_blessed(app, bakeoff),
        progress=running_post(progress, ""),
        result=trial_details(tried) if tried else thread.root,
        failed=thread.replies,
        missing=results.missing,
        headline=results.leading,
        may_try=bool(bakeoff.ending and known),
        incumbents=known.members if known else (),
        worth=council_value_table(board) if board.worth.is_decided else None,
        worth_lines=[*council_value_lines(board)],
        board_query=urlencode({"suite": bakeoff.suite.name, "panel": bakeoff.panel.name}),
        runs=runs,
        totals=totals(board, run.matrix.members),
        compared=[*comparison_lines(run, board.names)],
        methods=methods_post(run.matrix),
        grader_lines=[*grader_lines(run)],
        **_matrix_values(context, request, run, options),
    )


async def _load_other(
    context: WebContext,
    request: Request,
    options: Mapping[str, str],
    runs: tuple[Bakeoff, ...],
) -> Bakeoff | None:
    """Return the run to compare with: the one that is named, else, for changes, the last one."""
    if options["against"]:
        return await load_bakeoff(context, request, options["against"])
    return runs[0] if runs and options["show"] == "changed" else None


def _matrix_values(
    context: WebContext, request: Request, run: RunMatrix, options: Mapping[str, str]
) -> dict[str, Any]:
    """Return the template values of the matrix: its columns and the next rows."""
    bakeoff = run.bakeoff
    panels = (*context.app.panels.values(), bakeoff.panel)
    names = panel_seat_names((*panels, run.against.panel) if run.against else panels)
    left = run.earlier.left if run.earlier else ()
    rows, first = select_rows(run, options["show"], options["category"]), _first_row(request)
    wanted = {name: value for name, value in options.items() if value}
    last = first + ROWS_AT_ONCE - 1
    return {
        "address": bakeoff_path(bakeoff),
        "matrix_title": MATRIX_TITLE,
        "given": options,
        "filters": FILTERS,
        "categories": run.categories,
        "against": run.against,
        "members": [(i, key, names.get(key, key)) for i, key in enumerate(run.matrix.members)],
        "left": [(key, names.get(key, key)) for key in left],
        "names": names,
        "rows": rows[first - 1 : last],
        "before": run.earlier.before if run.earlier else {},
        "changed": run.changed if run.against else frozenset(),
        "query": urlencode(wanted),
        "next": urlencode({**wanted, "from": last + 1}) if len(rows) > last else "",
        "left_over": len(rows) - last,
        "cell_text": cell_text,
        "cell_class": cell_class,
        "winner_text": winner_text,
        "council_text": council_text,
        "was_text": was_text,
        "grade_text": grade_text,
    }


async def matrix_rows(context: WebContext, request: Request) -> Response:
    """Return the next rows of the matrix alone, for a page that loads them as it is scrolled."""
    bakeoff, options = await load_bakeoff(context, request), _options(request)
    await update_records(context.app)
    runs = await earlier_runs(context.app, empty_message(request), bakeoff)
    other = await _load_other(context, request, options, runs)
    progress = await load_progress(context.app, bakeoff)
    run = await load_matrix(context.app, progress, other)
    values = _matrix_values(context, request, run, options)
    return HTMLResponse(context.site.render("matrix_rows.html", **values))


async def cell_page(context: WebContext, request: Request) -> Response:
    """Show one model's answer to one question: its rankings, its grade and its cost."""
    bakeoff = await load_bakeoff(context, request)
    run = await load_matrix(context.app, await load_progress(context.app, bakeoff))
    number, seat = request.path_params["number"], request.path_params["seat"]
    if not (1 <= number <= len(run.matrix.rows) and seat < len(run.matrix.members)):
        raise BakeoffError(f"Bake-off {bakeoff.id} has no such answer.")
    row, member = run.matrix.rows[number - 1], run.matrix.members[seat]
    if not row.round_id:
        raise BakeoffError(f"Question {number} has not been asked yet.")
    round_ = await context.app.store.load(row.round_id)
    label = round_.draw.labels.label_of(member) if round_.draw else None
    names = panel_seat_names((bakeoff.panel,)) | seat_names(round_.panel)
    return await context.render_page(
        request,
        "cell.html",
        address=bakeoff_path(bakeoff),
        row=row,
        cell=row.cells.get(member),
        name=names.get(member, member),
        answer=_answer_of(round_, member),
        rankings=_rankings_of(round_, label),
        question=row.question,
        grades=_grades_of(round_, label, names),
    )


def _answer_of(round_: Round, member: str) -> Prose | None:
    texts = (answer.text for answer in round_.revised if answer.member == member)
    return next((Prose(text) for text in texts if text), None)


def _rankings_of(round_: Round, label: Label | None) -> list[tuple[str, int, int, str]]:
    """Return how each judge placed an answer: its name, the place, of how many, and the reason."""
    found = []
    for row in ranking_rows(round_, round_.draw) if round_.draw else ():
        judge, ballot = row.judge, row.ballot
        if ballot and label in ballot.shown:
            above = takewhile(lambda tied: label not in tied, ballot.ranking)
            found.append((judge, 1 + sum(map(len, above)), len(ballot.shown), row.reason))
    return found


def _grades_of(
    round_: Round, label: Label | None, names: Mapping[str, str]
) -> list[tuple[str, bool, str]]:
    """Return what each outside judge says: its name, whether the answer meets it, and why."""
    return [
        (
            names.get(one.seat, one.seat),
            dict(one.scores)[label] > 0,
            grade_reasons(round_, one).get(label, ""),
        )
        for one in usable_grades(round_)
        if label in dict(one.scores)
    ]


async def download_bakeoff(context: WebContext, request: Request) -> Response:
    """Return the matrix as CSV, or all as `council bakeoff show --json` prints it."""
    bakeoff, options = await load_bakeoff(context, request), _options(request)
    other = await _load_other(context, request, options, ())
    results = await load_results(context.app, await load_progress(context.app, bakeoff), other)
    csv = partial(matrix_csv, results.run)
    name = f"bakeoff-{bakeoff.suite.name}"
    return await report_file(request, name, csv=csv, json=lambda: results.document)
