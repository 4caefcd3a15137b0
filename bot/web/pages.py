"""What visitors read: the front page, the list of rounds, a round, its downloads."""

import asyncio
import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.commands.ask import accepted
from bot.commands.rounds import SEEN
from bot.render.round_json import document
from bot.render.round_report import (
    as_markdown,
    ballots_post,
    findings,
    labelled_answers,
    placings,
    report,
    standings_post,
    title_of,
)
from bot.render.round_status import progress_post
from bot.web import feedback, voting
from bot.web.downloads import download
from bot.web.site import Site
from bot.web.visitors import visitor_of
from council.integrity.seal import Seal, changes
from council.integrity.verification import verify
from council.rounds import Round

FOUND_ROUNDS = 100


async def front(site: Site, request: Request) -> Response:
    """Give the first page: ask, and see what runs here and who receives what."""
    return await site.page(
        request, "front.html", surroundings=site.surroundings, state=site.state()
    )


async def rounds(site: Site, request: Request) -> Response:
    """Give the rounds whose question holds what is looked for."""
    wanted = request.query_params.get("q", "")[:200].strip()
    found = await site.lines(visitor_of(request), FOUND_ROUNDS, wanted)
    return await site.page(request, "rounds.html", found=found, wanted=wanted)


async def round_page(site: Site, request: Request) -> Response:
    """Give a round: its answer and thread, or how far it is."""
    # Asked before it is loaded: a round that closes in between is told by the next event.
    is_carried = await site.desk.runner.is_carried(request.path_params["id"])
    round_ = await site.round_(request)
    # By a link alone nothing can be done with a round, not even by the one who asked.
    is_own = site.knows(request) and round_.question.asked_by == visitor_of(request).asker.id
    is_over = round_.closing is not None or round_.forgotten is not None
    if is_over:
        seal = await site.desk.store.seal(round_.id)
        shown = await asyncio.to_thread(_closed, round_, seal)
    else:
        shown = await asyncio.to_thread(_open, round_)
        shown["accepted"] = (await accepted(site.desk, round_)).summary
    may_rate = feedback.may_rate(site, request, round_)
    if round_.panel.name in site.desk.panels:
        shown["panel"] = round_.panel.name
    return await site.page(
        request,
        "round.html",
        round_=round_,
        title=title_of(round_),
        current=round_.id,
        is_running=is_carried and not round_.closing,
        is_own=is_own,
        may_rate=may_rate,
        suites=await _suites(site) if may_rate else (),
        said_before=await feedback.said_before(site, request, round_) if may_rate else None,
        voted_before=await voting.voted_before(site, request, round_) if may_rate else None,
        seen=SEEN,
        state=site.state(),
        **shown,
    )


async def _suites(site: Site) -> tuple[str, ...]:
    """Give the names of the suites that a question could join."""
    return tuple(line.name for line in await site.desk.bench.suites.lines(""))


def _open(round_: Round) -> dict[str, Any]:
    return {"progress": progress_post(round_, 0), "root": None, "draw": None}


def _closed(round_: Round, seal: Seal | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"root": report(round_).root, "draw": round_.draw}
    shown |= {
        "link": seal.link if seal else None,
        "changed": changes(round_, seal) if seal else (),
    }
    if round_.draw:
        shown |= {
            "standings": standings_post(round_, round_.draw),
            "ballots": ballots_post(round_, round_.draw),
            "answers": [] if round_.forgotten else [*labelled_answers(round_, round_.draw)],
            "placings": placings(round_, round_.draw),
            "findings": findings(round_),
            "differences": verify(round_),
        }
    return shown


async def as_json(site: Site, request: Request) -> Response:
    """Give a round as the document that `council show --json` prints."""
    round_ = await site.round_(request)
    text = json.dumps(document(round_), ensure_ascii=False, indent=2)
    return download(f"round-{round_.id}.json", text, "application/json")


async def as_markdown_file(site: Site, request: Request) -> Response:
    """Give a round as a Markdown file."""
    round_ = await site.round_(request)
    text = as_markdown(report(round_))
    return download(f"round-{round_.id}.md", text, "text/markdown; charset=utf-8")
