"""Handlers of suites: list, read a file, edit the questions in a form, save, download, remove."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.bakeoffs.column_names import COLUMNS
from bot.bakeoffs.commands import suites as suite_commands
from bot.bakeoffs.commands.forms import add_to_suite
from bot.bakeoffs.commands.suites import SuiteAddition, estimate_suite_run, find_suite_summary
from bot.bakeoffs.file_parsers import check_size
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.suites import (
    check_lines,
    cost_line,
    left_out_lines,
    missing_grader_lines,
    size_line,
    suite_post,
)
from bot.bakeoffs.suite_files import (
    ReadingOptions,
    SuiteFile,
    question_fields,
    read_suite_file,
    suite_csv,
    suite_from_rows,
    suite_suffixes,
    validate_suite_name,
)
from bot.chat import Attachment
from bot.commands.dispatch import report_errors
from bot.web.auth import Form, FormError, empty_message, place_of, read_uploads, visitor_of
from bot.web.commands import PageChat, run_command
from bot.web.context import WebContext, file_response
from bot.web.rounds import may_use_result
from council.bakeoffs.models import Grading, Suite
from council.errors import CouncilError, SuiteError
from council.rounds import Round

MAX_ROWS = 200  # a larger suite is changed as a file
_NEW_ROWS = 3

_Row = Mapping[str, str]


async def suites_page(
    context: WebContext,
    request: Request,
    error: CouncilError | None = None,
    typed: _Row | None = None,
) -> Response:
    """Show the suites, and the form for a new one, with what was typed before an error."""
    found = await bakeoff_stores(context.app).suites.list_summaries("")
    return await context.render_page(
        request,
        "suites.html",
        suffixes=suite_suffixes(context.app.registry),
        status=422 if error else 200,
        found=found,
        wrong=str(error or ""),
        typed_name=typed["name"] if typed else "",
        columns_typed={name: typed[name] if typed else "" for name in suite_commands.ASKED_COLUMNS},
        lines_typed=typed["lines"] if typed else "",
    )


async def suite_page(context: WebContext, request: Request) -> Response:
    """Show a suite with all its questions."""
    app, name = context.app, request.path_params["name"]
    suite = await bakeoff_stores(app).suites.load("", name)
    line = await find_suite_summary(app, "", name)
    visitor = visitor_of(request)
    run = await estimate_suite_run(app, place_of(visitor), suite)
    return await context.render_page(
        request,
        "suite.html",
        suite=suite,
        size=size_line(suite),
        cost=cost_line(run),
        check_lines=[*check_lines(suite), *missing_grader_lines(suite, app.registry)],
        is_own=line is not None and line.by == visitor.asker.id,
        is_editable=len(suite.questions) <= MAX_ROWS,
    )


async def download_suite_csv(context: WebContext, request: Request) -> Response:
    """Return a suite as CSV, from which the same suite can be added."""
    suite = await bakeoff_stores(context.app).suites.load("", request.path_params["name"])
    return file_response(f"{suite.name}.csv", suite_csv(suite), "text/csv; charset=utf-8")


async def add_suite(context: WebContext, request: Request, form: Form) -> Response:
    """Show the questions of a file or a text in a form, before anything is saved."""
    # First, so that the upload is closed whatever is wrong.
    files = await read_uploads(request, "file")
    if form["lines"].strip():
        files = (*files, Attachment.of("The text.txt", form["lines"].encode()))
    try:
        name = validate_suite_name(form["name"])
        if not files:
            return await _render_editor(context, request, await _new_editor(context, name))
        file = files[0]
        check_size(file.name, file.size)
        # Parsing a large file takes seconds and must not block the event loop.
        chosen = {one: form[one].strip() for one in suite_commands.ASKED_COLUMNS}
        columns = {one: column for one, column in chosen.items() if column}
        options = ReadingOptions("", bool(form["partial"]), columns)
        content = await file.read()
        read = await asyncio.to_thread(
            read_suite_file,
            name,
            file.name,
            content,
            options,
            context.app.registry,
        )
    except SuiteError as error:
        return await suites_page(context, request, error, form)
    if len(read.suite.questions) > MAX_ROWS:
        return await _offer_large_suite(context, request, read)
    rows = tuple(map(question_fields, read.suite.questions))
    editor = replace(await _new_editor(context, name), rows=rows)
    lines = (*left_out_lines(read.left_out), *check_lines(read.suite))
    return await _render_editor(context, request, editor, left_out=lines)


async def _offer_large_suite(context: WebContext, request: Request, read: SuiteFile) -> Response:
    """Show the first questions of a suite that is too large for a form, and a button to save it."""
    chat, incoming = PageChat(), empty_message(request)
    offered = suite_commands.offer_suite(context.app, chat, incoming, read.suite, read.left_out)
    await report_errors(chat, incoming, offered)
    posts = (*chat.posts, suite_post(read.suite, None, context.app.registry))
    return await context.render_page(request, "said.html", posts=posts, said="")


# --- The form with a row for each question


@dataclass(frozen=True, slots=True)
class _Editor:
    """A suite as rows of a form, and the version that it replaces, "" for none."""

    name: str
    before: str = ""
    rows: Sequence[_Row] = ()


async def _new_editor(context: WebContext, name: str) -> _Editor:
    line = await find_suite_summary(context.app, "", name)
    return _Editor(name, line.version if line else "", ({},) * _NEW_ROWS)


async def edit_suite_page(context: WebContext, request: Request) -> Response:
    """Show the form with a suite's questions."""
    suite = await bakeoff_stores(context.app).suites.load("", request.path_params["name"])
    if len(suite.questions) > MAX_ROWS:
        raise SuiteError(
            f"Suite {suite.name} has more than {MAX_ROWS} questions. Download its CSV, change "
            "that, and add it again under the same name."
        )
    rows = tuple(map(question_fields, suite.questions))
    return await _render_editor(context, request, _Editor(suite.name, suite.version, rows))


async def edit_suite(context: WebContext, request: Request, form: Form) -> Response:
    """Check the rows, or save them as the newest version of the suite."""
    rows = await _read_rows(request)
    editor = _Editor(validate_suite_name(request.path_params["name"]), form["before"], rows)
    try:
        made = await asyncio.to_thread(suite_from_rows, editor.name, rows, context.app.registry)
        suite = await _with_settings(context, made)
        if form["act"] == "save":
            incoming = empty_message(request)
            await suite_commands.save_suite(context.app, incoming, suite, editor.before)
            return RedirectResponse(f"/suites/{suite.name}", status_code=303)
    except CouncilError as error:
        return await _render_editor(context, request, editor, wrong=str(error))
    return await _render_editor(context, request, editor)


async def _with_settings(context: WebContext, suite: Suite) -> Suite:
    """Return the suite with what the stored one of its name says about judges."""
    if not await find_suite_summary(context.app, "", suite.name):
        return suite
    stored = await bakeoff_stores(context.app).suites.load("", suite.name)
    seen = stored.judges_see_references
    return replace(suite, judges_see_references=seen, method=stored.method)


async def _read_rows(request: Request) -> tuple[_Row, ...]:
    """Return the rows of a form that was read; a column that release 0.2 did not have is empty."""
    form = await request.form()
    cells = [[str(cell) for cell in form.getlist(name)] for name in COLUMNS]
    cells = [column or [""] * len(cells[0]) for column in cells]
    if len({len(column) for column in cells}) > 1 or len(cells[0]) > MAX_ROWS:
        raise FormError(f"This form is broken, or has more than {MAX_ROWS} questions.", 422)
    return tuple(dict(zip(COLUMNS, row, strict=True)) for row in zip(*cells, strict=True))


async def _render_editor(
    context: WebContext,
    request: Request,
    editor: _Editor,
    wrong: str = "",
    left_out: Sequence[str] = (),
) -> Response:
    """Render the form, with the size and cost of what is in it so far, or with an error."""
    size = cost = ""
    if any(cell.strip() for row in editor.rows for cell in row.values()) and not wrong:
        try:
            registry = context.app.registry
            suite = await asyncio.to_thread(suite_from_rows, editor.name, editor.rows, registry)
            run = await estimate_suite_run(context.app, place_of(visitor_of(request)), suite)
            size, cost = size_line(suite), cost_line(run)
        except CouncilError as error:
            wrong = str(error)
    rows = [{column: row.get(column, "") for column in COLUMNS} for row in editor.rows]
    return await context.render_page(
        request,
        "suite_edit.html",
        status=422 if wrong else 200,
        editor=editor,
        rows=rows,
        gradings=[*map(str, Grading), *context.app.registry.graders],
        max_rows=MAX_ROWS,
        wrong=wrong,
        size=size,
        cost=cost,
        left_out=left_out,
    )


# --- Actions


async def remove_suite(context: WebContext, request: Request, _form: Form) -> Response:
    """Remove a suite of the visitor."""
    name = request.path_params["name"]
    return await run_command(context, request, suite_commands.remove_suite, name)


async def add_round_to_suite(context: WebContext, request: Request, form: Form) -> Response:
    """Add a round's question to a suite, and redirect to the suite."""
    round_ = await context.load_round(request)
    incoming = empty_message(request)
    addition = SuiteAddition(form["name"], form["answer"])
    await add_to_suite(context.app, PageChat(), incoming, round_.id, addition)
    return RedirectResponse(f"/suites/{addition.name.strip().lower()}", status_code=303)


async def load_suite_form(
    context: WebContext, request: Request, round_: Round
) -> Mapping[str, Any] | None:
    """Return the values of the form that adds a round's question to a suite; None without one."""
    if not may_use_result(context, request, round_):
        return None
    lines = await bakeoff_stores(context.app).suites.list_summaries("")
    return {"suites": tuple(line.name for line in lines)}
