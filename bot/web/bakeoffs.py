"""Handlers of bake-offs, suites and schedules."""

from collections.abc import Mapping
from dataclasses import replace

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.access import can_read_bakeoff, check_own_bakeoff
from bot.bakeoffs.lifecycle import (
    begin_bakeoff,
    is_bakeoff_running,
    load_progress,
    reopen_bakeoff,
    stop_bakeoff,
)
from bot.bakeoffs.runner import estimate_bakeoff
from bot.chat import Attachment, Caution, Post
from bot.commands import schedules as scheduling
from bot.commands import suites as suite_commands
from bot.commands.bakeoffs import (
    CANCELLED,
    load_readable_bakeoffs,
    new_bakeoff,
    parse_cap_text,
    proposal_value,
    proposed_bakeoff,
)
from bot.commands.buttons import BUTTON_HANDLERS, PROPOSAL_ACTIONS, add_to_suite
from bot.commands.dispatch import report_errors
from bot.commands.suites import NO_QUESTIONS, SuiteAddition, estimate_suite_run, find_suite_summary
from bot.render.bakeoffs import bakeoff_state, proposal_post
from bot.render.schedules import understood_post
from bot.render.suites import cost_line, size_line
from bot.schedules.parser import parse_schedule
from bot.suite_files import suite_csv, validate_suite_name
from bot.web.auth import FormError, empty_message, place_of, read_form, visitor_of
from bot.web.context import WebContext, file_response
from bot.web.rounds import PageChat
from council.bakeoffs.models import Bakeoff
from council.errors import BakeoffError, CouncilError, ScheduleError

MAX_LISTED_BAKEOFFS = 30
SCHEDULE_ACTIONS = {"pause", "resume", "remove", "run"}


# --- Bake-offs


async def bakeoffs_page(
    context: WebContext, request: Request, error: CouncilError | None = None
) -> Response:
    """Show the bake-offs, and the form for a new one, with the error of the last attempt."""
    incoming = empty_message(request)
    bakeoffs = (await load_readable_bakeoffs(context.app, incoming))[:MAX_LISTED_BAKEOFFS]
    found = [
        (bakeoff, bakeoff_state(await load_progress(context.app, bakeoff))) for bakeoff in bakeoffs
    ]
    suites = await context.app.bakeoff_stores.suites.list_summaries(incoming.place.scope)
    return await context.render_page(
        request,
        "bakeoffs.html",
        status=422 if error else 200,
        found=found,
        suites=suites,
        refused=Post((Caution(str(error)),)) if error else None,
    )


async def propose_bakeoff(context: WebContext, request: Request) -> Response:
    """Show what a bake-off would cost, before anything is spent."""
    form = await read_form(context, request)
    incoming = replace(empty_message(request), key=context.form_key(form))
    try:
        wanted = (form["suite"], form["panel"] or None, _cap_of(form))
        bakeoff = await new_bakeoff(context.app, incoming, *wanted)
    except CouncilError as error:
        return await bakeoffs_page(context, request, error)
    post = proposal_post(bakeoff, await estimate_bakeoff(context.app, bakeoff), "")
    value = proposal_value(bakeoff)
    return await context.render_page(request, "bakeoff_proposal.html", shown=post, value=value)


async def start_bakeoff(context: WebContext, request: Request) -> Response:
    """Start a proposed bake-off, once, and redirect to its page."""
    form = await read_form(context, request)
    incoming = replace(empty_message(request), key=context.app.new_id())
    try:
        bakeoff = await proposed_bakeoff(context.app, incoming, form["value"])
    except CouncilError as error:
        return await bakeoffs_page(context, request, error)
    if await context.app.bakeoff_stores.bakeoffs.open(bakeoff):
        await begin_bakeoff(context.app, None, bakeoff)
    return RedirectResponse(bakeoff_path(bakeoff), status_code=303)


async def cancel_bakeoff(context: WebContext, request: Request) -> Response:
    """Cancel a bake-off; its rounds so far stay."""
    bakeoff, _ = await _load_own_bakeoff(context, request, "cancel a bake-off")
    if not bakeoff.ending:
        await stop_bakeoff(context.app, bakeoff, CANCELLED)
    return RedirectResponse(bakeoff_path(bakeoff), status_code=303)


async def resume_bakeoff(context: WebContext, request: Request) -> Response:
    """Resume a bake-off that ended early."""
    bakeoff, form = await _load_own_bakeoff(context, request, "resume a bake-off")
    if not await is_bakeoff_running(context.app, bakeoff):
        again = await reopen_bakeoff(context.app, bakeoff, _cap_of(form))
        await begin_bakeoff(context.app, context.app.find_chat(again.place), again)
    return RedirectResponse(bakeoff_path(bakeoff), status_code=303)


async def load_bakeoff(context: WebContext, request: Request, id_: str = "") -> Bakeoff:
    """Return the bake-off with this id, or the one a request is about.

    Raise BakeoffError unless the visitor may read it.
    """
    bakeoff = await context.app.bakeoff_stores.bakeoffs.load(id_ or request.path_params["id"])
    if not can_read_bakeoff(empty_message(request), bakeoff):
        raise BakeoffError(f"There is no bake-off {bakeoff.id!r} here.")
    return bakeoff


async def _load_own_bakeoff(
    context: WebContext, request: Request, action: str
) -> tuple[Bakeoff, Mapping[str, str]]:
    form = await read_form(context, request)
    bakeoff = await load_bakeoff(context, request)
    check_own_bakeoff(context.app.access, bakeoff, visitor_of(request).asker, action)
    return bakeoff, form


def is_own_bakeoff(context: WebContext, request: Request, bakeoff: Bakeoff) -> bool:
    """Return whether the visitor may cancel and resume a bake-off."""
    try:
        check_own_bakeoff(context.app.access, bakeoff, visitor_of(request).asker, "do this")
    except CouncilError:
        return False
    return True


def _cap_of(form: Mapping[str, str]) -> int | None:
    cap = form["cap"].strip()
    return parse_cap_text(cap) if cap else None


def bakeoff_path(bakeoff: Bakeoff) -> str:
    """Return the path of a bake-off's page."""
    return f"/bakeoffs/{bakeoff.id}"


# --- Suites


async def suites_page(context: WebContext, request: Request) -> Response:
    """Show the suites, and the form for a new one."""
    found = await context.app.bakeoff_stores.suites.list_summaries("")
    return await context.render_page(request, "suites.html", found=found)


async def suite_page(context: WebContext, request: Request) -> Response:
    """Show a suite with all its questions."""
    app, name = context.app, request.path_params["name"]
    suite = await app.bakeoff_stores.suites.load("", name)
    line = await find_suite_summary(app, "", name)
    visitor = visitor_of(request)
    run = await estimate_suite_run(app, place_of(visitor), suite)
    return await context.render_page(
        request,
        "suite.html",
        suite=suite,
        size=size_line(suite),
        cost=cost_line(run),
        is_own=line is not None and line.by == visitor.asker.id,
    )


async def download_suite_csv(context: WebContext, request: Request) -> Response:
    """Return a suite as CSV, from which the same suite can be added."""
    suite = await context.app.bakeoff_stores.suites.load("", request.path_params["name"])
    return file_response(f"{suite.name}.csv", suite_csv(suite), "text/csv; charset=utf-8")


async def add_suite(context: WebContext, request: Request) -> Response:
    """Show the size and cost of a suite, with a button that stores it."""
    form = await read_form(context, request)
    file = await _read_file(request)  # first, so that the upload is closed whatever else is wrong
    name, lines = validate_suite_name(form["name"]), form["lines"].strip()
    if not (lines or file):
        raise FormError(NO_QUESTIONS, 422)
    chat = PageChat()
    incoming = replace(empty_message(request), files=(file,) if file else ())
    arguments = {"name": name} if file else {"name": name, "questions": lines}
    await report_errors(
        chat, incoming, suite_commands.add_suite(context.app, chat, incoming, arguments)
    )
    return await context.render_page(request, "said.html", posts=chat.posts, said="")


async def remove_suite(context: WebContext, request: Request) -> Response:
    """Remove a suite of the visitor."""
    await read_form(context, request)
    chat, incoming = PageChat(), empty_message(request)
    name = request.path_params["name"]
    removed = suite_commands.remove_suite(context.app, chat, incoming, name)
    await report_errors(chat, incoming, removed)
    return await context.render_page(request, "said.html", posts=chat.posts, said="")


async def press_button(context: WebContext, request: Request) -> Response:
    """Handle a button of a proposal on the page."""
    form = await read_form(context, request)
    action = request.path_params["action"]
    if action not in PROPOSAL_ACTIONS:
        raise FormError("There is no such button.", 404)
    chat, incoming = PageChat(), empty_message(request)
    pressed = BUTTON_HANDLERS[action](context.app, chat, incoming, form["value"])
    await report_errors(chat, incoming, pressed)
    return await context.render_page(request, "said.html", posts=chat.posts, said="")


async def add_round_to_suite(context: WebContext, request: Request) -> Response:
    """Add a round's question to a suite, and redirect to the suite."""
    form = await read_form(context, request)
    round_ = await context.load_round(request)
    incoming = empty_message(request)
    addition = SuiteAddition(form["name"], form["answer"])
    await add_to_suite(context.app, PageChat(), incoming, round_.id, addition)
    return RedirectResponse(f"/suites/{addition.name.strip().lower()}", status_code=303)


async def _read_file(request: Request) -> Attachment | None:
    """Return the uploaded file of a form that was read; None if there is none."""
    upload = (await request.form()).get("file")
    if not isinstance(upload, UploadFile) or not upload.filename:
        return None
    content = await upload.read()
    await upload.close()

    async def read() -> bytes:
        return content

    return Attachment(upload.filename, len(content), read)


# --- Schedules


async def schedules_page(
    context: WebContext, request: Request, status: int = 200, **values: object
) -> Response:
    """Show the schedules that report to the page, and the form for a new one."""
    app, incoming = context.app, empty_message(request)
    visible = await scheduling.load_visible_schedules(app, incoming)
    suites = await app.bakeoff_stores.suites.list_summaries(incoming.place.scope)
    return await context.render_page(
        request,
        "schedules.html",
        status=status,
        found=[await scheduling.load_schedule_status(app, schedule) for schedule in visible],
        suites=[line.name for line in suites],
        zone=app.zone,
        here=incoming.place,
        **{"wrong": "", "words": "", "understood": None} | values,
    )


async def add_schedule(context: WebContext, request: Request) -> Response:
    """Store a schedule and show how it was understood; after an error, the text is still there."""
    form = await read_form(context, request)
    words, app = form["words"], context.app
    incoming = empty_message(request)
    try:
        wanted = parse_schedule(words, scheduling.today(app))
        if wanted.channel:
            raise ScheduleError(f"Schedules made here report here: leave #{wanted.channel} out.")
        schedule = await scheduling.new_schedule(app, incoming, wanted)
        await scheduling.save_schedule(app, schedule)
    except CouncilError as error:
        return await schedules_page(context, request, status=422, wrong=str(error), words=words)
    default_zone = "" if wanted.zone else app.zone
    line = await scheduling.load_schedule_status(app, schedule)
    post = understood_post(line, incoming.place, default_zone)
    return await schedules_page(context, request, understood=post)


async def change_schedule(context: WebContext, request: Request) -> Response:
    """Pause, resume, run or remove a schedule."""
    form = await read_form(context, request)
    incoming = replace(empty_message(request), key=context.form_key(form))
    app, action = context.app, request.path_params["act"]
    visible = await scheduling.load_visible_schedules(app, incoming)
    id_ = request.path_params["id"]
    schedule = next((schedule for schedule in visible if schedule.id == id_), None)
    if action not in SCHEDULE_ACTIONS or schedule is None:
        return await schedules_page(
            context, request, status=404, wrong="There is no such schedule any more."
        )
    try:
        if action == "pause":
            await scheduling.save_schedule(app, replace(schedule, paused=True))
        elif action == "resume":
            await scheduling.resume_schedule(app, schedule)
        elif action == "remove":
            await scheduling.remove_schedule(app, schedule)
        else:
            bakeoff = await scheduling.new_extra_run(app, incoming, schedule)
            if await app.bakeoff_stores.bakeoffs.open(bakeoff):
                await begin_bakeoff(app, None, bakeoff)
    except CouncilError as error:
        return await schedules_page(context, request, status=422, wrong=str(error))
    return RedirectResponse("/schedules", status_code=303)
