"""Handlers of bake-offs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

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
from bot.bakeoffs.posting import render_result
from bot.bakeoffs.runner import estimate_bakeoff
from bot.chat import Caution, Post
from bot.commands.bakeoffs import (
    CANCELLED,
    load_readable_bakeoffs,
    new_bakeoff,
    parse_cap_text,
    proposal_value,
    proposed_bakeoff,
)
from bot.render.bakeoffs import bakeoff_state, bakeoff_title, proposal_post, running_post
from bot.web.auth import empty_message, read_form, visitor_of
from bot.web.context import WebContext
from council.bakeoffs.models import Bakeoff, BakeoffProgress
from council.errors import BakeoffError, CouncilError
from council.ports import RoundQuery

MAX_LISTED_BAKEOFFS = 30


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
    return RedirectResponse(_path(bakeoff), status_code=303)


async def bakeoff_page(context: WebContext, request: Request) -> Response:
    """Show a bake-off: its progress, or its result."""
    bakeoff = await load_bakeoff(context, request)
    progress = await load_progress(context.app, bakeoff)
    is_running = await is_bakeoff_running(context.app, bakeoff)
    values: dict[str, Any] = {"progress": running_post(progress, "")}
    if not is_running:
        values["result"] = (await render_result(context.app, progress, linked=True)).thread
    is_own = _is_own(context, request, bakeoff)
    return await context.render_page(
        request,
        "bakeoff.html",
        bakeoff=bakeoff,
        title=bakeoff_title(bakeoff),
        address=_path(bakeoff),
        is_running=is_running,
        may_resume=not is_running and not progress.is_complete and is_own,
        may_cancel=is_running and is_own,
        questions=await _questions(context, progress),
        **values,
    )


async def _questions(context: WebContext, progress: BakeoffProgress) -> list[tuple[str, str, str]]:
    """Return for each question its text, its round's id or "", and why it failed or ""."""
    bakeoff = progress.bakeoff
    rounds = await context.app.store.list_summaries(wanted=RoundQuery(bakeoff=bakeoff.id))
    existing = {line.id for line in rounds}
    failures = {failure.number: failure.why for failure in progress.failed}
    questions = []
    for number, question in enumerate(bakeoff.suite.questions, start=1):
        id_ = bakeoff.round_id(number)
        round_id = id_ if id_ in existing else ""
        questions.append((question.text, round_id, failures.get(number, "")))
    return questions


async def cancel_bakeoff(context: WebContext, request: Request) -> Response:
    """Cancel a bake-off; its rounds so far stay."""
    bakeoff, _ = await _load_own_bakeoff(context, request, "cancel a bake-off")
    if not bakeoff.ending:
        await stop_bakeoff(context.app, bakeoff, CANCELLED)
    return RedirectResponse(_path(bakeoff), status_code=303)


async def resume_bakeoff(context: WebContext, request: Request) -> Response:
    """Resume a bake-off that ended early."""
    bakeoff, form = await _load_own_bakeoff(context, request, "resume a bake-off")
    if not await is_bakeoff_running(context.app, bakeoff):
        again = await reopen_bakeoff(context.app, bakeoff, _cap_of(form))
        await begin_bakeoff(context.app, context.app.find_chat(again.place), again)
    return RedirectResponse(_path(bakeoff), status_code=303)


async def load_bakeoff(context: WebContext, request: Request) -> Bakeoff:
    """Return the bake-off a request is about; raise BakeoffError unless the visitor may read it."""
    bakeoff = await context.app.bakeoff_stores.bakeoffs.load(request.path_params["id"])
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


def _is_own(context: WebContext, request: Request, bakeoff: Bakeoff) -> bool:
    try:
        check_own_bakeoff(context.app.access, bakeoff, visitor_of(request).asker, "do this")
    except CouncilError:
        return False
    return True


def _cap_of(form: Mapping[str, str]) -> int | None:
    cap = form["cap"].strip()
    return parse_cap_text(cap) if cap else None


def _path(bakeoff: Bakeoff) -> str:
    return f"/bakeoffs/{bakeoff.id}"
