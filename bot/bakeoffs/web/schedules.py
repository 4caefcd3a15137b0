"""Handlers of schedules: list, add with a form that shows the next runs, pause, run, remove."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from bot.bakeoffs.commands import schedules as scheduling
from bot.bakeoffs.cron import DAY_NAMES, weekly_cron, weekly_times
from bot.bakeoffs.lifecycle import begin_bakeoff
from bot.bakeoffs.parts import bakeoff_settings, bakeoff_stores
from bot.bakeoffs.render.schedules import describe_cron, next_runs_line
from bot.bakeoffs.schedule_parser import (
    ScheduleRequest,
    find_zone,
    known_zones,
    read_schedule_fields,
)
from bot.context import AppContext
from bot.web.auth import Form, empty_message
from bot.web.context import WebContext
from council.bakeoffs.models import Schedule
from council.errors import CouncilError, ScheduleError
from council.money import MICRO_USD

SCHEDULE_ACTIONS = {"pause", "resume", "remove", "run"}
WEEK = (*DAY_NAMES[1:], DAY_NAMES[0])
CHANGED = "This form is new since you opened it. Check when the schedule runs, then save again."
GONE = "There is no such schedule any more."
_DEFAULT_TIME = "09:00"
_MAX_TYPED = 200  # characters of a field that the form of a schedule takes


async def schedules_page(
    context: WebContext, request: Request, status: int = 200, **values: object
) -> Response:
    """Show the schedules that report to the page, and the form for a new one."""
    app, incoming = context.app, empty_message(request)
    visible = await scheduling.load_visible_schedules(app, incoming)
    suites = await bakeoff_stores(app).suites.list_summaries(incoming.place.scope)
    typed: Mapping[str, str] = defaultdict(
        str, monday="on", time=_DEFAULT_TIME, zone=bakeoff_settings(app).zone
    )
    if edited := next((one for one in visible if one.id == request.query_params.get("edit")), None):
        typed = _fields_of(edited)
    blank = {"wrong": "", "form_wrong": "", "typed": typed}
    return await context.render_page(
        request,
        "schedules.html",
        status=status,
        found=[await scheduling.load_schedule_status(app, schedule) for schedule in visible],
        suites=suites,
        week=WEEK,
        zones=known_zones(),
        here=incoming.place,
        **{**blank, **values},
    )


async def next_runs(context: WebContext, request: Request) -> Response:
    """Return in a sentence when the fields of the form run next, or what is wrong with them."""
    try:
        line = _preview(context.app, request.query_params)
    except CouncilError as error:
        return JSONResponse({"line": str(error), "wrong": True})
    return JSONResponse({"line": line, "wrong": False})


def _fields_of(schedule: Schedule) -> Mapping[str, str]:
    """Return the fields of the form that changes a schedule."""
    cap = schedule.cap_micro
    fields = {"edit": schedule.id, "words": schedule.words, "time": _DEFAULT_TIME}
    if weekly := weekly_times(schedule.cron):
        days, time = weekly
        fields |= {"words": "", "time": time} | {DAY_NAMES[day].lower(): "on" for day in days}
    fields |= {name: getattr(schedule, name) for name in ("name", "suite", "panel", "zone")}
    return defaultdict(str, fields, cap="" if cap is None else f"{cap / MICRO_USD:g}")


async def add_schedule(context: WebContext, request: Request, form: Form) -> Response:
    """Store a new or changed schedule, and redirect to the list; show what is wrong."""
    app, incoming = context.app, empty_message(request)
    try:
        wanted = _read_request(form)
        if id_ := form["edit"]:
            visible = await scheduling.load_visible_schedules(app, incoming)
            before = next((one for one in visible if one.id == id_), None)
            if before is None:
                raise ScheduleError(GONE)
            schedule = await scheduling.edit_schedule(app, before, wanted, None)
        else:
            schedule = await scheduling.new_schedule(app, incoming, wanted)
        await scheduling.save_schedule(app, schedule)
    except CouncilError as error:
        return await schedules_page(context, request, status=422, form_wrong=str(error), typed=form)
    return RedirectResponse("/schedules", status_code=303)


def _read_request(form: Form) -> ScheduleRequest:
    """Return what the form asks for; raise ScheduleError with what to change."""
    if form["often"]:  # a form of release 0.2, which also had a button that only showed the runs
        raise ScheduleError(CHANGED)
    fields = {key: form[key].strip() for key in ("name", "suite", "panel", "zone", "cap")}
    if form["edit"]:  # an emptied field removes the cap
        fields["cap"] = fields["cap"] or "none"
    for key, value in fields.items():
        if len(value) > _MAX_TYPED:
            raise ScheduleError(f"This {key} is too long: {value[:40]!r}. Write it shorter.")
    wanted = _add_times(form, fields)
    if wanted.channel:
        raise ScheduleError(f"Schedules made here report here: leave #{wanted.channel} out.")
    return wanted


def _add_times(form: Form, fields: Mapping[str, str]) -> ScheduleRequest:
    """Return the request of the fields and when it runs: as typed in words, else days and time."""
    if words := form.get("words", "").strip():
        return read_schedule_fields({**fields, "when": words[:_MAX_TYPED]})
    days = [day for day, name in enumerate(DAY_NAMES) if form.get(name.lower())]
    cron = weekly_cron(days, form.get("time", ""))
    return replace(read_schedule_fields(fields), cron=cron, when=describe_cron(cron))


def _preview(app: AppContext, form: Form) -> str:
    typed = form.get("zone", "").strip()
    zone = find_zone(typed) if typed else bakeoff_settings(app).zone
    if zone is None:
        raise ScheduleError(f"There is no time zone {typed[:40]!r}. Choose one from the list.")
    wanted = _add_times(form, {"name": "preview"})
    if not wanted.cron:
        raise ScheduleError("Say when to run it.")
    return next_runs_line(wanted.cron, wanted.zone or zone, app.now())


async def change_schedule(context: WebContext, request: Request, form: Form) -> Response:
    """Pause, resume, run or remove a schedule."""
    incoming = replace(empty_message(request), key=context.form_key(form))
    app, action = context.app, request.path_params["act"]
    visible = await scheduling.load_visible_schedules(app, incoming)
    id_ = request.path_params["id"]
    schedule = next((schedule for schedule in visible if schedule.id == id_), None)
    if action not in SCHEDULE_ACTIONS or schedule is None:
        return await schedules_page(context, request, status=404, wrong=GONE)
    try:
        if action == "pause":
            await scheduling.save_schedule(app, replace(schedule, paused=True))
        elif action == "resume":
            await scheduling.resume_schedule(app, schedule)
        elif action == "remove":
            await scheduling.remove_schedule(app, schedule)
        else:
            bakeoff = await scheduling.new_extra_run(app, incoming, schedule)
            if await bakeoff_stores(app).bakeoffs.open(bakeoff):
                await begin_bakeoff(app, None, bakeoff)
    except CouncilError as error:
        return await schedules_page(context, request, status=422, wrong=str(error))
    return RedirectResponse("/schedules", status_code=303)
