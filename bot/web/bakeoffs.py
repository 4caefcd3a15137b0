"""Bake-offs on the page: what they come to before they begin, how they go, what came of them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.access import check_own_bakeoff, reads_bakeoff
from bot.bakeoffs import lifecycle as holding
from bot.bakeoffs.lifecycle import is_held, standing
from bot.bakeoffs.posting import result_of
from bot.bakeoffs.runner import expected
from bot.chat import Attachment, Caution, IncomingMessage, Post
from bot.commands import schedules as scheduling
from bot.commands.bakeoffs import (
    CANCELLED,
    BakeoffArguments,
    Proposal,
    bakeoff_of,
    proposed,
    read_cap,
    readable_bakeoffs,
)
from bot.commands.buttons import PRESSES, PROPOSED, add_to_suite
from bot.commands.context import AppContext
from bot.commands.dispatch import COMMANDS, reporting_errors, run_command
from bot.commands.registry import Invocation
from bot.commands.suites import NO_QUESTIONS, SuiteAddition, line_named, run_of
from bot.render.bakeoffs import proposal_post, running_post, state_of, title_of
from bot.render.schedules import understood_post
from bot.render.suites import cost_line, size_line
from bot.schedules.parser import read
from bot.suite_files import as_csv, checked_name
from bot.web.auth import looking, place_of, visitor_of
from bot.web.context import WebContext, download
from bot.web.rounds import KEY, FormError, PageChat, own_form
from council.bakeoffs.models import Bakeoff, Progress, Schedule
from council.errors import BakeoffError, CouncilError, ScheduleError
from council.ports import RoundQuery

# --- Bake-offs on the page: what they come to before they begin, how they go, what came of them.

LISTED = 30


async def bakeoffs(site: WebContext, request: Request) -> Response:
    """Give the bake-offs there are, and a form for a new one."""
    return await _front(site, request)


async def _front(
    site: WebContext, request: Request, status: int = 200, refused: Post | None = None
) -> Response:
    said = looking(visitor_of(request))
    there = (await readable_bakeoffs(site.app, said))[:LISTED]
    found = [(bakeoff, state_of(await standing(site.app, bakeoff))) for bakeoff in there]
    suites = await site.app.bakeoff_stores.suites.lines(said.place.scope)
    return await site.page(
        request,
        "bakeoffs.html",
        status=status,
        found=found,
        suites=suites,
        refused=refused,
    )


async def proposal(site: WebContext, request: Request) -> Response:
    """Say what a bake-off comes to, before anything is spent."""
    form = await own_form(site, request)
    said = _said(site, request, str(form.get("round", "")))
    panel, cap = str(form.get("panel", "")) or None, str(form.get("cap", "")).strip()
    try:
        micro = read_cap(cap) if cap else None
        words = BakeoffArguments("start", str(form.get("suite", "")), panel, micro)
        bakeoff = await proposed(site.app, said, words)
    except CouncilError as error:
        return await _front(site, request, 422, Post((Caution(str(error)),)))
    shown = proposal_post(bakeoff, await expected(site.app, bakeoff), "")
    value = Proposal.of(bakeoff).value
    return await site.page(request, "bakeoff_proposal.html", shown=shown, value=value)


async def begun(site: WebContext, request: Request) -> Response:
    """Begin what was proposed, once, and lead to its page."""
    form = await own_form(site, request)
    said = _said(site, request, "")
    try:
        bakeoff = await bakeoff_of(site.app, said, Proposal.read(str(form.get("value", ""))))
    except CouncilError as error:
        return await _front(site, request, 422, Post((Caution(str(error)),)))
    if await site.app.bakeoff_stores.bakeoffs.open(bakeoff):
        await holding.begin(site.app, None, bakeoff)
    return RedirectResponse(_address(bakeoff), status_code=303)


def _said(site: WebContext, request: Request, key: str) -> IncomingMessage:
    """Give what a visitor says by a form; the form brings its key along."""
    visitor = visitor_of(request)
    key = key if KEY.fullmatch(key) else site.app.new_id()
    return replace(looking(visitor), place=place_of(visitor), key=key)


async def bakeoff_page(site: WebContext, request: Request) -> Response:
    """Give a bake-off: how far it is, or what came of it."""
    bakeoff = await bakeoff_asked(site, request)
    progress = await standing(site.app, bakeoff)
    is_running = await is_held(site.app, bakeoff)
    shown: dict[str, Any] = {"progress": running_post(progress, "")}
    if not is_running:
        shown["result"] = (await result_of(site.app, progress, linked=True)).thread
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


async def _questions(site: WebContext, progress: Progress) -> list[tuple[str, str, str]]:
    """Give each question with its round's id, "" where there is none, and why it failed."""
    bakeoff = progress.bakeoff
    wanted = RoundQuery(bakeoff=bakeoff.id)
    there = {line.id for line in await site.app.store.recent(wanted=wanted)}
    failed = {one.number: one.why for one in progress.failed}
    ids = map(bakeoff.round_id, range(1, progress.questions + 1))
    return [
        (question.text, id_ if id_ in there else "", failed.get(number, ""))
        for number, (question, id_) in enumerate(
            zip(bakeoff.suite.questions, ids, strict=True), start=1
        )
    ]


def _is_own(site: WebContext, request: Request, bakeoff: Bakeoff) -> bool:
    try:
        check_own_bakeoff(site.app.access, bakeoff, visitor_of(request).asker, "do this")
    except CouncilError:
        return False
    return True


async def bakeoff_asked(site: WebContext, request: Request) -> Bakeoff:
    """Give the bake-off a request is about; BakeoffError where this visitor may not read it."""
    bakeoff = await site.app.bakeoff_stores.bakeoffs.load(request.path_params["id"])
    if not reads_bakeoff(looking(visitor_of(request)), bakeoff):
        raise BakeoffError(f"There is no bake-off {bakeoff.id!r} here.")
    return bakeoff


async def cancelled(site: WebContext, request: Request) -> Response:
    """Stop spending on a bake-off; what there is of it is kept."""
    bakeoff = await _own(site, request, "cancel a bake-off")
    if not bakeoff.ending:
        await holding.cancel(site.app, bakeoff, CANCELLED)
    return RedirectResponse(_address(bakeoff), status_code=303)


async def gone_on(site: WebContext, request: Request) -> Response:
    """Go on with a bake-off that ended early."""
    bakeoff = await _own(site, request, "go on with a bake-off")
    if not await is_held(site.app, bakeoff):
        form = await request.form()
        cap = str(form.get("cap", "")).strip()
        again = await holding.reopened(site.app, bakeoff, read_cap(cap) if cap else None)
        way = site.app.chats.get(again.place.chat)
        await holding.begin(site.app, way(again.place) if way else None, again)
    return RedirectResponse(_address(bakeoff), status_code=303)


async def _own(site: WebContext, request: Request, what: str) -> Bakeoff:
    await own_form(site, request)
    bakeoff = await bakeoff_asked(site, request)
    check_own_bakeoff(site.app.access, bakeoff, visitor_of(request).asker, what)
    return bakeoff


def _address(bakeoff: Bakeoff) -> str:
    return f"/bakeoffs/{bakeoff.id}"


# --- Suites on the page: the list, one of them, a form to add, and the question of a round.


async def suites(site: WebContext, request: Request) -> Response:
    """Give the suites there are, and a form for one more."""
    found = await site.app.bakeoff_stores.suites.lines("")
    return await site.page(request, "suites.html", found=found)


async def suite_page(site: WebContext, request: Request) -> Response:
    """Give a suite with all its questions."""
    app, name = site.app, request.path_params["name"]
    suite = await app.bakeoff_stores.suites.load("", name)
    line = await line_named(app, "", name)
    visitor = visitor_of(request)
    run = await run_of(app, place_of(visitor), suite)
    return await site.page(
        request,
        "suite.html",
        suite=suite,
        size=size_line(suite),
        cost=cost_line(run),
        is_own=line is not None and line.by == visitor.asker.id,
    )


async def suite_file(site: WebContext, request: Request) -> Response:
    """Give a suite as CSV, which reads back as the same suite."""
    suite = await site.app.bakeoff_stores.suites.load("", request.path_params["name"])
    return download(f"{suite.name}.csv", as_csv(suite), "text/csv; charset=utf-8")


async def added(site: WebContext, request: Request) -> Response:
    """Show what a form would add: its size and cost, to be kept with a press."""
    form = await own_form(site, request)
    file = await _file(form)  # first, so that it is closed whatever else is wrong
    name, lines = checked_name(str(form.get("name", ""))), str(form.get("lines", "")).strip()
    if not (lines or file):
        raise FormError(NO_QUESTIONS, 422)
    words = f"add {name}" if file else f"add {name}\n{lines}"
    return await _obeyed(site, request, words, (file,) if file else ())


async def removed(site: WebContext, request: Request) -> Response:
    """Remove a suite, for the one who kept it."""
    await own_form(site, request)
    return await _obeyed(site, request, f"remove {request.path_params['name']}", ())


async def pressed(site: WebContext, request: Request) -> Response:
    """Do what a button says that was shown on the page."""
    form = await own_form(site, request)
    action = request.path_params["action"]
    if action not in PROPOSED:
        raise FormError("There is no such button.", 404)
    chat, said = PageChat(), looking(visitor_of(request))
    await reporting_errors(
        chat, said, PRESSES[action](site.app, chat, said, str(form.get("value", "")))
    )
    return await site.page(request, "said.html", posts=chat.posts, said="")


async def joined(site: WebContext, request: Request) -> Response:
    """Put a round's question into a suite, and lead to the suite."""
    form = await own_form(site, request)
    round_ = await site.round_(request)
    said = looking(visitor_of(request))
    joining = SuiteAddition(str(form.get("name", "")), str(form.get("answer", "")))
    await add_to_suite(site.app, PageChat(), said, round_.id, joining)
    return RedirectResponse(f"/suites/{joining.name.strip().lower()}", status_code=303)


async def _obeyed(
    site: WebContext, request: Request, words: str, files: tuple[Attachment, ...]
) -> Response:
    chat = PageChat()
    here = looking(visitor_of(request))
    said = IncomingMessage(words, here.asker, here.place, site.app.new_id(), files=files)
    order = Invocation(next(c for c in COMMANDS.commands if c.name == "suite"), words)
    await reporting_errors(chat, said, run_command(site.app, chat, said, order))
    return await site.page(request, "said.html", posts=chat.posts, said="")


async def _file(form: FormData) -> Attachment | None:
    """Give the file of a form; None where none was chosen."""
    sent = form.get("file")
    if not isinstance(sent, UploadFile) or not sent.filename:
        return None
    content = await sent.read()
    await sent.close()

    async def read() -> bytes:
        return content

    return Attachment(sent.filename, len(content), read)


# --- Schedules on the page: listed with their next times, added in words, paused, run and removed

Act = Callable[[AppContext, IncomingMessage, Schedule], Awaitable[object]]


async def schedules(site: WebContext, request: Request) -> Response:
    """Give the schedules that report to the page, and the form to add one."""
    return await _page(site, request)


async def schedule_added(site: WebContext, request: Request) -> Response:
    """Keep a new schedule, and repeat what was understood; what was typed is not lost."""
    form = await own_form(site, request)
    words, app = str(form.get("words", "")), site.app
    said = looking(visitor_of(request))
    try:
        wanted = read(words, scheduling.today(app))
        if wanted.channel:
            raise ScheduleError(f"Schedules made here report here: leave #{wanted.channel} out.")
        new = await scheduling.made(app, said, wanted)
        await scheduling.kept(app, new)
    except CouncilError as error:
        return await _page(site, request, status=422, wrong=str(error), words=words)
    house = "" if wanted.zone else app.zone
    post = understood_post(await scheduling.lined(app, new), said.place, house)
    return await _page(site, request, understood=post)


async def done(site: WebContext, request: Request) -> Response:
    """Pause a schedule, go on with it, run it now, or remove it."""
    form = await own_form(site, request)
    key = str(form.get("round", ""))
    key = key if KEY.fullmatch(key) else site.app.new_id()
    said = replace(looking(visitor_of(request)), key=key)
    act = _ACTS.get(request.path_params["act"])
    seen = await scheduling.visible(site.app, said)
    one = next((one for one in seen if one.id == request.path_params["id"]), None)
    if act is None or one is None:
        return await _page(site, request, status=404, wrong="There is no such schedule any more.")
    try:
        await act(site.app, said, one)
    except CouncilError as error:
        return await _page(site, request, status=422, wrong=str(error))
    return RedirectResponse("/schedules", status_code=303)


async def _pause(app: AppContext, _: IncomingMessage, one: Schedule) -> None:
    await scheduling.kept(app, replace(one, paused=True))


async def _resume(app: AppContext, _: IncomingMessage, one: Schedule) -> None:
    await scheduling.resumed(app, one)


async def _remove(app: AppContext, _: IncomingMessage, one: Schedule) -> None:
    await scheduling.removed(app, one)


async def _run(app: AppContext, said: IncomingMessage, one: Schedule) -> None:
    bakeoff = await scheduling.run_now(app, said, one)
    if await app.bakeoff_stores.bakeoffs.open(bakeoff):
        await holding.begin(app, None, bakeoff)


async def _page(site: WebContext, request: Request, status: int = 200, **shown: object) -> Response:
    said = looking(visitor_of(request))
    seen = await scheduling.visible(site.app, said)
    told = {"wrong": "", "words": "", "understood": None} | shown
    return await site.page(
        request,
        "schedules.html",
        status=status,
        found=[await scheduling.lined(site.app, one) for one in seen],
        suites=[line.name for line in await site.app.bakeoff_stores.suites.lines(said.place.scope)],
        zone=site.app.zone,
        here=said.place,
        **told,
    )


_ACTS: Mapping[str, Act] = {"pause": _pause, "resume": _resume, "remove": _remove, "run": _run}
