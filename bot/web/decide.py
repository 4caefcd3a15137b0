"""Handlers of decisions: the form of disputed points, and the answer while it is written anew."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.access import NotYoursError
from bot.chat import IncomingMessage
from bot.commands.decide import (
    WRITING,
    begin_decision,
    chosen_in_form,
    last_failure,
    load_decidable,
    open_decide_form,
)
from bot.context import RunningDecision
from bot.coordination.tasks import states
from bot.ports import RoundSnapshot
from bot.render.round_report.decisions import decide_button, decision_posts
from bot.render.round_report.thread import round_title
from bot.web.auth import Form, place_of, visitor_of
from bot.web.context import WebContext, is_member
from bot.web.pages import Site
from council.errors import BudgetError, CouncilError, DecisionError
from council.rounds import Round

_REFUSALS = (DecisionError, BudgetError, NotYoursError)


async def decide_page(context: WebContext, request: Request) -> Response:
    """Show the disputed points of a round, what can be chosen, and what it costs."""
    return await _show_form(context, request)


async def decide(context: WebContext, request: Request, form: Form) -> Response:
    """Begin to write the answer with the decisions of a form, and redirect to the round."""
    message = await _message(context, request, context.form_key(form))
    try:
        round_ = await load_decidable(context.app, message, request.path_params["id"])
        await begin_decision(context.app, message, round_, chosen_in_form(round_, form))
    except _REFUSALS as error:
        return await _show_form(context, request, error, form)
    return RedirectResponse(f"/rounds/{round_.id}", status_code=303)


async def decision_values(context: WebContext, request: Request, round_: Round) -> dict[str, Any]:
    """Return what the page of a closed round shows of decisions: made, running, failed."""
    member, asker = is_member(context, request), visitor_of(request).asker
    running = context.app.decisions.get(round_.id)
    may_decide = member and not running and decide_button(round_)
    return {
        "deciding": WRITING if running else "",
        "may_decide": bool(may_decide),
        "decisions": decision_posts(round_),
        "undecided": await last_failure(context.app, round_.id, asker.id) if member else "",
    }


async def _message(context: WebContext, request: Request, key: str = "") -> IncomingMessage:
    """Return a message of the visitor; raise NotYoursError for that of a share link."""
    round_ = await context.load_round(request)
    if not is_member(context, request):
        raise NotYoursError("A share link only shows a round. Open the round without it.")
    visitor = visitor_of(request)
    place = place_of(visitor, private=round_.question.place.private)
    return IncomingMessage("", visitor.asker, place, key)


async def _show_form(
    context: WebContext,
    request: Request,
    refused: CouncilError | None = None,
    chosen: Mapping[str, str] | None = None,
) -> Response:
    message = await _message(context, request)
    form = await open_decide_form(context.app, message, request.path_params["id"])
    round_ = await context.load_round(request)
    return await context.render_page(
        request,
        "decide.html",
        status=422 if refused else 200,
        round_=round_,
        title=round_title(round_),
        current=round_.id,
        form=form,
        refused=refused,
        chosen=chosen or {},
    )


# --- While it is written


@asynccontextmanager
async def decision_snapshots(
    running: RunningDecision,
) -> AsyncIterator[AsyncIterator[RoundSnapshot]]:
    """Yield the snapshots of a running decision; the page shows by itself how it ended."""

    async def until_the_end() -> AsyncIterator[RoundSnapshot]:
        with suppress(CouncilError):
            async for snapshot in states(updates):
                yield snapshot

    with running.subscription() as updates:
        yield until_the_end()


def decision_payload(site: Site, snapshot: RoundSnapshot) -> dict[str, object]:
    """Return what a page shows while the answer is written anew."""
    return {
        "closed": False,
        "summary": WRITING,
        "seconds": snapshot.seconds and round(snapshot.seconds, 1),
        "progress": "",
        "answers": [],
        "draft": site.render("draft.html", draft=snapshot.draft) if snapshot.draft else "",
    }
