"""Handlers of the list of rounds: filters, pages, and deleting a round."""

from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.access import NotYoursError, listable_rounds
from bot.commands.rounds import check_forgettable, describe_quoting, forget_and_wipe
from bot.render.formatting import panel_seat_names
from bot.render.round_report.thread import round_title
from bot.render.round_report.verdict import verdict_facts
from bot.web.auth import Form, empty_message, visitor_of
from bot.web.context import WebContext, is_member, query_options
from council.ports import RoundQuery
from council.rounds import Round

PAGE_ROUNDS = 20
FILTERS = ("q", "panel", "winner", "by", "since", "until")


async def rounds_page(context: WebContext, request: Request) -> Response:
    """Show the rounds that the filters admit, newest first, twenty a page."""
    app = context.app
    options = query_options(request, FILTERS)
    given = defaultdict(str, options)
    wanted = _query(request, given)
    summaries = await app.store.list_summaries(PAGE_ROUNDS + 1, wanted)
    shown, older = summaries[:PAGE_ROUNDS], ""
    if len(summaries) > PAGE_ROUNDS:
        last = {"before": shown[-1].asked_at.isoformat()}
        older = "?" + urlencode(options | last)
    visitor, panels = visitor_of(request).asker.id, app.panels.values()
    names = panel_seat_names(panels)
    return await context.render_page(
        request,
        "rounds.html",
        found=[(line, verdict_facts(await app.store.load(line.id))) for line in shown],
        given=given,
        is_filtered=bool(options),
        models={seat.key: names[seat.key] for one in panels for seat in one.members},
        older=older,
        is_first="before" not in request.query_params,
        visitor=visitor,
    )


def _query(request: Request, given: dict[str, str]) -> RoundQuery:
    """Return the query of the filters; a date that is none is ignored."""
    wanted = listable_rounds(empty_message(request))
    wanted = replace(wanted, anywhere=given["q"], panel=given["panel"], winner=given["winner"])
    if given["by"] == "me":
        wanted = replace(wanted, asked_by=visitor_of(request).asker.id)
    with suppress(ValueError):
        wanted = replace(wanted, since=_start_of(given["since"]))
    with suppress(ValueError, OverflowError):
        wanted = replace(wanted, before=_start_of(given["until"]) + timedelta(days=1))
    with suppress(ValueError, TypeError, OverflowError):
        moment = datetime.fromisoformat(request.query_params.get("before", "")).astimezone(UTC)
        wanted = replace(wanted, before=min(moment, wanted.before or moment))
    return wanted


def _start_of(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), time(), UTC)


async def confirm_forget(context: WebContext, request: Request) -> Response:
    """Ask whether to delete a round's texts."""
    round_ = await _load_round_to_forget(context, request)
    return await context.render_page(
        request,
        "forget.html",
        round_=round_,
        title=round_title(round_),
        others=await describe_quoting(context.app.store, round_),
    )


async def forget(context: WebContext, request: Request, _form: Form) -> Response:
    """Delete a round's texts, and redirect to the list."""
    round_ = await _load_round_to_forget(context, request)
    await forget_and_wipe(context.app.store, round_, context.app.now())
    return RedirectResponse("/rounds", status_code=303)


async def _load_round_to_forget(context: WebContext, request: Request) -> Round:
    """Return the round of a request; raise NotYoursError for the visitor of a share link."""
    round_ = await context.load_round(request)
    if not is_member(context, request):
        raise NotYoursError("A share link only shows a round. Open the round without it.")
    await check_forgettable(context.app, empty_message(request), round_)
    return round_
