"""Handlers of the list of rounds: filters, pages, export, and deleting a round."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.access import NotYoursError, readable_rounds
from bot.chat import Heading, Post, Table, Thread
from bot.commands.rounds import check_forgettable, describe_quoting, forget_and_wipe
from bot.render.csv_text import csv_text
from bot.render.formatting import money, panel_seat_names
from bot.render.markdown import thread_markdown
from bot.render.people import named_question
from bot.render.round_report.thread import round_title
from bot.render.round_report.verdict import short_verdict
from bot.web.auth import Form, empty_message, visitor_of
from bot.web.context import WebContext, file_response, is_member, query_options
from council.ports import RoundQuery, RoundSummary
from council.rounds import Round, Stage

PAGE_ROUNDS = 20
MAX_EXPORTED = 500
FILTERS = ("q", "panel", "winner", "by", "since", "until", "bakeoff")


@dataclass(frozen=True, slots=True)
class Row:
    """A round in the list; or a bake-off, with its number of rounds and the newest of them."""

    line: RoundSummary
    path: str
    winner: str = ""
    certainty: str = ""
    who: str = ""
    cost: str = ""


async def rounds_page(context: WebContext, request: Request) -> Response:
    """Show the rounds that the filters admit, newest first, twenty a page; a bake-off is a row."""
    app = context.app
    options = query_options(request, FILTERS)
    given = defaultdict(str, options)
    wanted = replace(_query(request, given), folded=not given["bakeoff"])
    summaries = await app.store.list_summaries(PAGE_ROUNDS + 1, wanted)
    shown, older = summaries[:PAGE_ROUNDS], ""
    if len(summaries) > PAGE_ROUNDS:
        last = {"before": shown[-1].asked_at.isoformat()}
        older = "?" + urlencode(options | last)
    panels = app.panels.values()
    names = panel_seat_names(panels)
    return await context.render_page(
        request,
        "rounds.html",
        found=[await _row(context, request, line) for line in shown],
        given=given,
        is_filtered=bool(options),
        models={seat.key: names[seat.key] for one in panels for seat in one.members},
        older=older,
        is_first="before" not in request.query_params,
        export=f"?{request.scope['query_string'].decode('latin-1')}",
        bakeoff_page=context.site.page_link(f"/council bakeoff show {given['bakeoff']}"),
    )


async def _row(context: WebContext, request: Request, line: RoundSummary) -> Row:
    if line.rounds > 1:
        return Row(line, f"/rounds?{urlencode({'bakeoff': line.bakeoff})}")
    round_ = await context.app.store.load(line.id)
    path = f"/rounds/{line.id}"
    who = _who(request, line)
    if line.stage is not Stage.CLOSED:
        return Row(line, path, "not finished", who=who)
    if line.failed:
        return Row(line, path, "failed", who=who, cost=money(round_.cost_usd))
    return Row(line, path, *short_verdict(round_), who=who, cost=money(round_.cost_usd))


def _who(request: Request, line: RoundSummary) -> str:
    if line.asked_by == visitor_of(request).asker.id:
        return "only you" if line.place.private else "you"
    chats = {"web": "someone else", "terminal": "the terminal", "api": "the API"}
    return chats.get(line.place.chat, line.place.chat.capitalize()) or "someone else"


# --- Export


async def export_rounds(context: WebContext, request: Request) -> Response:
    """Return the rounds that the filters admit as Markdown, JSON or CSV, newest first."""
    kind = request.path_params["format"]
    if kind not in _WRITERS:
        raise HTTPException(404)
    wanted = _query(request, defaultdict(str, query_options(request, FILTERS)))
    lines = await context.app.store.list_summaries(MAX_EXPORTED, wanted)
    documents = [_document(line, await context.app.store.load(line.id)) for line in lines]
    media_type, write = _WRITERS[kind]
    return file_response(f"rounds.{kind}", write(documents), media_type)


def _document(line: RoundSummary, round_: Round) -> dict[str, Any]:
    winner, certainty = short_verdict(round_) if line.stage is Stage.CLOSED else ("", "")
    return {
        "id": line.id,
        "question": named_question(line),
        "asked_at": line.asked_at.isoformat(),
        "stage": line.stage.value,
        "winner": winner,
        "certainty": certainty,
        "panel": line.panel,
        "bakeoff": line.bakeoff,
        "cost_usd": round_.cost_usd,
        "seconds": line.seconds,
    }


def _as_json(documents: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(documents, ensure_ascii=False, indent=2)


def _as_csv(documents: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows as CSV of which a spreadsheet evaluates no text."""
    return csv_text(_COLUMNS, documents)


def _as_markdown(documents: Sequence[Mapping[str, Any]]) -> str:
    rows = tuple(
        (
            one["question"],
            " · ".join(filter(None, (one["winner"], one["certainty"]))),
            one["panel"],
            one["asked_at"][:16].replace("T", " "),
            money(one["cost_usd"]),
        )
        for one in documents
    )
    columns = ("Question", "Winner", "Panel", "Asked (UTC)", "Cost")
    return thread_markdown(Thread(Post((Heading("Rounds"), Table(columns, rows)))))


_COLUMNS = (
    "id",
    "question",
    "asked_at",
    "stage",
    "winner",
    "certainty",
    "panel",
    "bakeoff",
    "cost_usd",
    "seconds",
)
_WRITERS: dict[str, tuple[str, Callable[[Sequence[Mapping[str, Any]]], str]]] = {
    "md": ("text/markdown; charset=utf-8", _as_markdown),
    "json": ("application/json", _as_json),
    "csv": ("text/csv; charset=utf-8", _as_csv),
}


# --- Filters


def _query(request: Request, given: dict[str, str]) -> RoundQuery:
    """Return the query of the filters; a date that is none is ignored."""
    wanted = readable_rounds(empty_message(request))
    wanted = replace(wanted, anywhere=given["q"], panel=given["panel"], winner=given["winner"])
    if given["bakeoff"]:
        wanted = replace(wanted, bakeoff=given["bakeoff"])
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


# --- Delete


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
