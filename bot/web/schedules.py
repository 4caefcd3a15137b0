"""Schedules on the page: listed with their next times, added in words, paused, run and removed."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bot.bakeoffs import lifecycle as holding
from bot.chat import Said
from bot.commands import schedules as scheduling
from bot.commands.context import Desk
from bot.render.schedules import understood_post
from bot.schedules.parser import read
from bot.web.asking import KEY, own_form
from bot.web.site import Site
from bot.web.visitors import looking, visitor_of
from council.bakeoffs.models import Schedule
from council.errors import CouncilError, ScheduleError

Act = Callable[[Desk, Said, Schedule], Awaitable[object]]


async def schedules(site: Site, request: Request) -> Response:
    """Give the schedules that report to the page, and the form to add one."""
    return await _page(site, request)


async def added(site: Site, request: Request) -> Response:
    """Keep a new schedule, and repeat what was understood; what was typed is not lost."""
    form = await own_form(site, request)
    words, desk = str(form.get("words", "")), site.desk
    said = looking(visitor_of(request))
    try:
        wanted = read(words, scheduling.today(desk))
        if wanted.channel:
            raise ScheduleError(f"Schedules made here report here: leave #{wanted.channel} out.")
        new = await scheduling.made(desk, said, wanted)
        await scheduling.kept(desk, new)
    except CouncilError as error:
        return await _page(site, request, status=422, wrong=str(error), words=words)
    house = "" if wanted.zone else desk.zone
    post = understood_post(await scheduling.lined(desk, new), said.place, house)
    return await _page(site, request, understood=post)


async def done(site: Site, request: Request) -> Response:
    """Pause a schedule, go on with it, run it now, or remove it."""
    form = await own_form(site, request)
    key = str(form.get("round", ""))
    key = key if KEY.fullmatch(key) else site.desk.new_id()
    said = replace(looking(visitor_of(request)), key=key)
    act = _ACTS.get(request.path_params["act"])
    seen = await scheduling.visible(site.desk, said)
    one = next((one for one in seen if one.id == request.path_params["id"]), None)
    if act is None or one is None:
        return await _page(site, request, status=404, wrong="There is no such schedule any more.")
    try:
        await act(site.desk, said, one)
    except CouncilError as error:
        return await _page(site, request, status=422, wrong=str(error))
    return RedirectResponse("/schedules", status_code=303)


async def _pause(desk: Desk, _: Said, one: Schedule) -> None:
    await scheduling.kept(desk, replace(one, paused=True))


async def _resume(desk: Desk, _: Said, one: Schedule) -> None:
    await scheduling.resumed(desk, one)


async def _remove(desk: Desk, _: Said, one: Schedule) -> None:
    await scheduling.removed(desk, one)


async def _run(desk: Desk, said: Said, one: Schedule) -> None:
    bakeoff = await scheduling.run_now(desk, said, one)
    if await desk.bench.bakeoffs.open(bakeoff):
        await holding.begin(desk, None, bakeoff)


async def _page(site: Site, request: Request, status: int = 200, **shown: object) -> Response:
    said = looking(visitor_of(request))
    seen = await scheduling.visible(site.desk, said)
    told = {"wrong": "", "words": "", "understood": None} | shown
    return await site.page(
        request,
        "schedules.html",
        status=status,
        found=[await scheduling.lined(site.desk, one) for one in seen],
        suites=[line.name for line in await site.desk.bench.suites.lines(said.place.scope)],
        zone=site.desk.zone,
        here=said.place,
        **told,
    )


_ACTS: Mapping[str, Act] = {"pause": _pause, "resume": _resume, "remove": _remove, "run": _run}
