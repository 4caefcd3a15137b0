"""Bake-offs on the page: what they come to before they begin, how they go, what came of them."""

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.access import check_own_bakeoff, reads_bakeoff
from bot.bakeoffs import lifecycle as holding
from bot.bakeoffs.lifecycle import is_held, standing
from bot.bakeoffs.posting import result_of
from bot.bakeoffs.runner import expected
from bot.chat import Caution, Post, Said
from bot.commands.bakeoffs import (
    CANCELLED,
    Proposal,
    Words,
    bakeoff_of,
    proposed,
    read_cap,
    readable_bakeoffs,
)
from bot.render.bakeoffs import proposal_post, running_post, state_of, title_of
from bot.web.asking import KEY, own_form
from bot.web.site import Site
from bot.web.visitors import looking, place_of, visitor_of
from council.bakeoffs.models import Bakeoff, Progress
from council.errors import BakeoffError, CouncilError
from council.ports import Wanted

LISTED = 30


async def bakeoffs(site: Site, request: Request) -> Response:
    """Give the bake-offs there are, and a form for a new one."""
    return await _front(site, request)


async def _front(
    site: Site, request: Request, status: int = 200, refused: Post | None = None
) -> Response:
    said = looking(visitor_of(request))
    there = (await readable_bakeoffs(site.desk, said))[:LISTED]
    found = [(bakeoff, state_of(await standing(site.desk, bakeoff))) for bakeoff in there]
    suites = await site.desk.bench.suites.lines(said.place.scope)
    return await site.page(
        request,
        "bakeoffs.html",
        status=status,
        found=found,
        suites=suites,
        refused=refused,
    )


async def proposal(site: Site, request: Request) -> Response:
    """Say what a bake-off comes to, before anything is spent."""
    form = await own_form(site, request)
    said = _said(site, request, str(form.get("round", "")))
    panel, cap = str(form.get("panel", "")) or None, str(form.get("cap", "")).strip()
    try:
        micro = read_cap(cap) if cap else None
        words = Words("start", str(form.get("suite", "")), panel, micro)
        bakeoff = await proposed(site.desk, said, words)
    except CouncilError as error:
        return await _front(site, request, 422, Post((Caution(str(error)),)))
    shown = proposal_post(bakeoff, await expected(site.desk, bakeoff), "")
    value = Proposal.of(bakeoff).value
    return await site.page(request, "bakeoff_proposal.html", shown=shown, value=value)


async def begun(site: Site, request: Request) -> Response:
    """Begin what was proposed, once, and lead to its page."""
    form = await own_form(site, request)
    said = _said(site, request, "")
    try:
        bakeoff = await bakeoff_of(site.desk, said, Proposal.read(str(form.get("value", ""))))
    except CouncilError as error:
        return await _front(site, request, 422, Post((Caution(str(error)),)))
    if await site.desk.bench.bakeoffs.open(bakeoff):
        await holding.begin(site.desk, None, bakeoff)
    return RedirectResponse(_address(bakeoff), status_code=303)


def _said(site: Site, request: Request, key: str) -> Said:
    """Give what a visitor says by a form; the form brings its key along."""
    visitor = visitor_of(request)
    key = key if KEY.fullmatch(key) else site.desk.new_id()
    return replace(looking(visitor), place=place_of(visitor), key=key)


async def bakeoff_page(site: Site, request: Request) -> Response:
    """Give a bake-off: how far it is, or what came of it."""
    bakeoff = await bakeoff_asked(site, request)
    progress = await standing(site.desk, bakeoff)
    is_running = await is_held(site.desk, bakeoff)
    shown: dict[str, Any] = {"progress": running_post(progress, "")}
    if not is_running:
        shown["result"] = (await result_of(site.desk, progress, linked=True)).thread
    return await site.page(
        request,
        "bakeoff.html",
        bakeoff=bakeoff,
        title=title_of(bakeoff),
        address=_address(bakeoff),
        is_running=is_running,
        may_resume=not is_running and not progress.is_whole and _is_own(site, request, bakeoff),
        may_cancel=is_running and _is_own(site, request, bakeoff),
        questions=await _questions(site, progress),
        **shown,
    )


async def _questions(site: Site, progress: Progress) -> list[tuple[str, str, str]]:
    """Give each question with its round's id, "" where there is none, and why it failed."""
    bakeoff = progress.bakeoff
    wanted = Wanted(bakeoff=bakeoff.id)
    there = {line.id for line in await site.desk.store.recent(wanted=wanted)}
    failed = {one.number: one.why for one in progress.failed}
    ids = map(bakeoff.round_id, range(1, progress.questions + 1))
    return [
        (question.text, id_ if id_ in there else "", failed.get(number, ""))
        for number, (question, id_) in enumerate(
            zip(bakeoff.suite.questions, ids, strict=True), start=1
        )
    ]


def _is_own(site: Site, request: Request, bakeoff: Bakeoff) -> bool:
    try:
        check_own_bakeoff(site.desk.access, bakeoff, visitor_of(request).asker, "do this")
    except CouncilError:
        return False
    return True


async def bakeoff_asked(site: Site, request: Request) -> Bakeoff:
    """Give the bake-off a request is about; BakeoffError where this visitor may not read it."""
    bakeoff = await site.desk.bench.bakeoffs.load(request.path_params["id"])
    if not reads_bakeoff(looking(visitor_of(request)), bakeoff):
        raise BakeoffError(f"There is no bake-off {bakeoff.id!r} here.")
    return bakeoff


async def cancelled(site: Site, request: Request) -> Response:
    """Stop spending on a bake-off; what there is of it is kept."""
    bakeoff = await _own(site, request, "cancel a bake-off")
    if not bakeoff.ending:
        await holding.cancel(site.desk, bakeoff, CANCELLED)
    return RedirectResponse(_address(bakeoff), status_code=303)


async def gone_on(site: Site, request: Request) -> Response:
    """Go on with a bake-off that ended early."""
    bakeoff = await _own(site, request, "go on with a bake-off")
    if not await is_held(site.desk, bakeoff):
        form = await request.form()
        cap = str(form.get("cap", "")).strip()
        again = await holding.reopened(site.desk, bakeoff, read_cap(cap) if cap else None)
        way = site.desk.ways.get(again.place.chat)
        await holding.begin(site.desk, way(again.place) if way else None, again)
    return RedirectResponse(_address(bakeoff), status_code=303)


async def _own(site: Site, request: Request, what: str) -> Bakeoff:
    await own_form(site, request)
    bakeoff = await bakeoff_asked(site, request)
    check_own_bakeoff(site.desk.access, bakeoff, visitor_of(request).asker, what)
    return bakeoff


def _address(bakeoff: Bakeoff) -> str:
    return f"/bakeoffs/{bakeoff.id}"
