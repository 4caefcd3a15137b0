"""Handlers of bake-offs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.bakeoffs.access import can_read_bakeoff, check_own_bakeoff
from bot.bakeoffs.commands.bakeoffs import (
    CANCELLED,
    change_baseline,
    load_readable_bakeoffs,
    load_suite_to_run,
    new_bakeoff,
    parse_cap_text,
    proposal_value,
    proposed_bakeoff,
)
from bot.bakeoffs.commands.trials import (
    new_trial,
    plan_trial,
    proposed_trial,
    store_proposal,
)
from bot.bakeoffs.commands.voting import NO_MORE, next_question, voting_progress
from bot.bakeoffs.lifecycle import (
    begin_bakeoff,
    is_bakeoff_running,
    load_progress,
    reopen_bakeoff,
    stop_bakeoff,
)
from bot.bakeoffs.outcomes import load_outcome
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.bakeoffs import bakeoff_state, bakeoff_title, proposal_post
from bot.bakeoffs.render.trials import trial_proposal_post
from bot.bakeoffs.runner import estimate_bakeoff
from bot.bakeoffs.trials import trial_of
from bot.chat import Caution, Post
from bot.commands.voting import cast_vote
from bot.render.voting import blind_answers
from bot.web.auth import Form, FormError, empty_message, visitor_of
from bot.web.context import WebContext
from council.bakeoffs.models import Bakeoff, split_round_id
from council.errors import BakeoffError, CouncilError
from council.methods import method_summary, offered_methods
from council.rounds import Round

MAX_LISTED_BAKEOFFS = 30


# --- Bake-offs


async def bakeoffs_page(
    context: WebContext, request: Request, error: CouncilError | None = None
) -> Response:
    """Show the bake-offs, and the form for a new one, with the error of the last attempt."""
    incoming = empty_message(request)
    bakeoffs = (await load_readable_bakeoffs(context.app, incoming))[:MAX_LISTED_BAKEOFFS]
    listed = [await load_progress(context.app, bakeoff) for bakeoff in bakeoffs]
    found = [
        (one.bakeoff, bakeoff_state(one), await load_outcome(context.app, one)) for one in listed
    ]
    suites = await bakeoff_stores(context.app).suites.list_summaries(incoming.place.scope)
    registry = context.app.registry
    offered = offered_methods(context.app.panels.values(), registry)
    return await context.render_page(
        request,
        "bakeoffs.html",
        status=422 if error else 200,
        found=found,
        suites=suites,
        summaries=[(name, method_summary(name, registry)) for name in offered],
        refused=Post((Caution(str(error)),)) if error else None,
    )


def _entered_cap(form: Form) -> int | None:
    """Return the cap in a form, in micro-dollars; None if the field is empty."""
    cap = form["cap"].strip()
    try:
        return parse_cap_text(cap) if cap else None
    except BakeoffError as error:
        raise FormError(str(error), 422) from None


async def propose_bakeoff(context: WebContext, request: Request, form: Form) -> Response:
    """Show what a bake-off would cost, before anything is spent."""
    incoming = replace(empty_message(request), key=context.form_key(form))
    try:
        offered = offered_methods(context.app.panels.values(), context.app.registry)
        methods = [name for name in offered if form[f"method {name}"]]
        bakeoff = await new_bakeoff(
            context.app, incoming, form["suite"], form["panel"] or None, methods
        )
        bakeoff = replace(bakeoff, cap_micro=_entered_cap(form))
    except CouncilError as error:
        return await bakeoffs_page(context, request, error)
    post = proposal_post(bakeoff, await estimate_bakeoff(context.app, bakeoff), "")
    value = proposal_value(bakeoff, methods, context.app.registry)
    return await context.render_page(request, "bakeoff_proposal.html", shown=post, value=value)


async def start_bakeoff(context: WebContext, request: Request, form: Form) -> Response:
    """Start a proposed bake-off, once, and redirect to its page."""
    incoming = replace(empty_message(request), key=context.app.new_id())
    try:
        bakeoff = await proposed_bakeoff(context.app, incoming, form["value"])
    except CouncilError as error:
        return await bakeoffs_page(context, request, error)
    if await bakeoff_stores(context.app).bakeoffs.open(bakeoff):
        await begin_bakeoff(context.app, None, bakeoff)
    return RedirectResponse(bakeoff_path(bakeoff), status_code=303)


async def propose_trial(context: WebContext, request: Request, form: Form) -> Response:
    """Show what a trial on the suite of a bake-off can show and costs, before anything is spent."""
    app, earlier = context.app, await load_bakeoff(context, request)
    incoming = replace(empty_message(request), key=context.form_key(form))
    suite = await load_suite_to_run(app, incoming.place, earlier.suite.name)
    panel = app.panel(earlier.panel.name, incoming.place)
    pair = form["model"].strip(), form["incumbent"]
    bakeoff = new_trial(app, incoming, suite, panel, pair)
    bakeoff = replace(bakeoff, cap_micro=_entered_cap(form))
    plan = await plan_trial(app, bakeoff)
    shown = trial_proposal_post(bakeoff, trial_of(bakeoff), plan)
    value = await store_proposal(app, bakeoff)
    return await context.render_page(
        request, "bakeoff_proposal.html", shown=shown, value=value, action="/bakeoffs/try"
    )


async def start_trial(context: WebContext, request: Request, form: Form) -> Response:
    """Start a proposed trial, once, and redirect to its page."""
    bakeoff = await proposed_trial(context.app, empty_message(request), form["value"])
    if await bakeoff_stores(context.app).bakeoffs.open(bakeoff):
        await begin_bakeoff(context.app, None, bakeoff)
    return RedirectResponse(bakeoff_path(bakeoff), status_code=303)


async def cancel_bakeoff(context: WebContext, request: Request, _form: Form) -> Response:
    """Cancel a bake-off; its rounds so far stay."""
    bakeoff = await _load_own_bakeoff(context, request, "cancel a bake-off")
    if not bakeoff.ending:
        await stop_bakeoff(context.app, bakeoff, CANCELLED)
    return RedirectResponse(bakeoff_path(bakeoff), status_code=303)


async def set_baseline(context: WebContext, request: Request, form: Form) -> Response:
    """Compare later runs of its suite by its panel with a bake-off, or no longer."""
    bakeoff = await _load_own_bakeoff(context, request, "choose a baseline")
    await change_baseline(context.app, bakeoff, wanted=bool(form["wanted"]))
    return RedirectResponse(bakeoff_path(bakeoff), status_code=303)


async def resume_bakeoff(context: WebContext, request: Request, form: Form) -> Response:
    """Resume a bake-off that ended early, with a new cap if given."""
    bakeoff = await _load_own_bakeoff(context, request, "resume a bake-off")
    if not await is_bakeoff_running(context.app, bakeoff):
        again = await reopen_bakeoff(context.app, bakeoff, _entered_cap(form))
        await begin_bakeoff(context.app, context.app.find_chat(again.place), again)
    return RedirectResponse(bakeoff_path(bakeoff), status_code=303)


async def vote_page(context: WebContext, request: Request) -> Response:
    """Show the next question of a bake-off to vote on, without the authors of its answers."""
    app, by = context.app, visitor_of(request).asker.id
    bakeoff = await load_bakeoff(context, request)
    round_ = await next_question(app, bakeoff, by)
    return await context.render_page(
        request,
        "vote.html",
        bakeoff=bakeoff,
        title=f"Vote: {bakeoff_title(bakeoff)}",
        progress=await voting_progress(app, bakeoff, by),
        round_=round_,
        number=split_round_id(round_.id)[1] if round_ else 0,
        cards=[one for one in blind_answers(round_, by) if one.label] if round_ else (),
        no_more=NO_MORE,
    )


async def vote(context: WebContext, request: Request, form: Form) -> Response:
    """Store the visitor's vote on a question, and redirect to the next one."""
    bakeoff = await load_bakeoff(context, request)
    round_ = await context.app.store.load(form["round"])
    if round_.bakeoff != bakeoff.id:
        raise BakeoffError(f"Bake-off {bakeoff.id} has no such question.")
    choice, by = form["label"] or form["order"], visitor_of(request).asker.id
    await cast_vote(context.app, round_, by, choice, hides_result=True)
    return RedirectResponse(f"{bakeoff_path(bakeoff)}/vote", status_code=303)


async def load_bakeoff(context: WebContext, request: Request, id_: str = "") -> Bakeoff:
    """Return the bake-off with this id, or the one a request is about.

    Raise BakeoffError unless the visitor may read it.
    """
    bakeoff = await bakeoff_stores(context.app).bakeoffs.load(id_ or request.path_params["id"])
    if not can_read_bakeoff(empty_message(request), bakeoff):
        raise BakeoffError(f"There is no bake-off {bakeoff.id!r} here.")
    return bakeoff


async def _load_own_bakeoff(context: WebContext, request: Request, action: str) -> Bakeoff:
    bakeoff = await load_bakeoff(context, request)
    check_own_bakeoff(context.app.access, bakeoff, visitor_of(request).asker, action)
    return bakeoff


def is_own_bakeoff(context: WebContext, request: Request, bakeoff: Bakeoff) -> bool:
    """Return whether the visitor may cancel and resume a bake-off."""
    try:
        check_own_bakeoff(context.app.access, bakeoff, visitor_of(request).asker, "do this")
    except CouncilError:
        return False
    return True


def bakeoff_path(bakeoff: Bakeoff) -> str:
    """Return the path of a bake-off's page."""
    return f"/bakeoffs/{bakeoff.id}"


async def load_bakeoff_link(
    _context: WebContext, _request: Request, round_: Round
) -> Mapping[str, Any] | None:
    """Return the values of the link from a round to its bake-off; None for other rounds."""
    return {"bakeoff": round_.bakeoff} if round_.bakeoff else None
