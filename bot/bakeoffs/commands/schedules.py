"""The command `schedule`: add, list, edit, pause, resume, run and remove schedules."""

from collections.abc import Callable
from dataclasses import replace
from zoneinfo import ZoneInfo

from bot.access import check_admin, check_admitted, may_administer
from bot.bakeoffs.commands.bakeoffs import apply_methods, load_suite_to_run, start_bakeoff
from bot.bakeoffs.parts import SCHEDULES, bakeoff_settings, bakeoff_stores
from bot.bakeoffs.render.bakeoffs import extra_run_post
from bot.bakeoffs.render.schedules import (
    ScheduleStatus,
    pause_button,
    schedule_list_post,
    schedules_post,
    subscribe_button,
    understood_post,
)
from bot.bakeoffs.runner import estimate_bakeoff
from bot.bakeoffs.schedule_parser import (
    NO_CAP,
    SCHEDULE_EXAMPLE,
    ScheduleRequest,
    read_schedule_fields,
)
from bot.chat import Asker, Buttons, Chat, IncomingMessage, Line, Note, Post, send_note
from bot.commands.parameters import Arguments
from bot.context import AppContext
from bot.render.formatting import seat_names
from council.bakeoffs.models import Bakeoff, Schedule, slot_at
from council.bakeoffs.ports import BakeoffQuery
from council.budget import Estimate
from council.errors import CouncilError, ScheduleError
from council.places import LOCAL_CHATS, Place

GONE = (
    "This schedule was removed, or can't be seen from here. `/council schedule list` shows the "
    "others."
)


async def add_schedule(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Store a new schedule, and show how it was understood."""
    request = read_schedule_fields(arguments)
    there = await _in_reporting_channel(app, chat, message, request)
    new = await new_schedule(app, there, request)
    await save_schedule(app, new)
    await _show(app, chat, message, new, request)


async def edit_schedule_command(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Change a schedule, and show how it was understood."""
    request = read_schedule_fields(arguments)
    before = await find_schedule(app, message, request.name)
    there = await _in_reporting_channel(app, chat, message, request) if request.channel else None
    after = await edit_schedule(app, before, request, there)
    await save_schedule(app, after)
    await _show(app, chat, message, after)


async def _in_reporting_channel(
    app: AppContext, chat: Chat, message: IncomingMessage, request: ScheduleRequest
) -> IncomingMessage:
    """Return the message as if sent in the reporting channel; check access there as well."""
    if not request.channel:
        return message
    there = await chat.redirect_to_channel(message, request.channel)
    await app.reload_settings(there.place)
    check_admitted(app.access, there)
    return there


async def _show(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    one: Schedule,
    request: ScheduleRequest | None = None,
) -> None:
    """Show how a schedule was understood, and the default time zone if none was given."""
    zone = bakeoff_settings(app).zone if request and not request.zone else ""
    status = await load_schedule_status(app, one)
    await chat.send_ephemeral(message, understood_post(status, message.place, zone))


async def list_schedules(app: AppContext, chat: Chat, message: IncomingMessage, _: str) -> None:
    """List the schedules with their next runs."""
    schedules = await load_visible_schedules(app, message)
    lines = [await load_schedule_status(app, one) for one in schedules]
    may_add = may_administer(app.access, message)
    post = schedule_list_post(lines, may_add=may_add) if chat.is_room else schedules_post(lines)
    await chat.send_ephemeral(message, post)


async def pause_schedule(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Pause a schedule."""
    await _pause(app, chat, message, await find_schedule(app, message, name))


async def press_pause(app: AppContext, chat: Chat, message: IncomingMessage, id_: str) -> None:
    """Pause the schedule of a button."""
    await _pause(app, chat, message, await _schedule_of_button(app, message, id_, "pause"))


async def _pause(app: AppContext, chat: Chat, message: IncomingMessage, one: Schedule) -> None:
    paused = await _change(app, one, lambda schedule: replace(schedule, paused=True))
    line = f"Schedule {one.name} is paused."
    if chat.is_room:
        post = Post((Line(line), Buttons((pause_button(paused),))), line)
        await chat.send_ephemeral(message, post)
    else:
        how = f"Resume it with `/council schedule resume {one.name}`."
        await send_note(chat, message, f"{line} {how}")


async def resume_paused(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Resume a paused schedule."""
    one = await find_schedule(app, message, name)
    await _show(app, chat, message, await resume_schedule(app, one))


async def press_resume(app: AppContext, chat: Chat, message: IncomingMessage, id_: str) -> None:
    """Resume the paused schedule of a button; one that runs already only says so."""
    one = await _schedule_of_button(app, message, id_, "resume")
    await _show(app, chat, message, await resume_schedule(app, one) if one.paused else one)


async def delete_schedule(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Remove a schedule; its bake-offs stay."""
    await remove_schedule(app, await find_schedule(app, message, name))
    await send_note(chat, message, f"Schedule {name} is removed. Its bake-offs stay.")


async def run_schedule(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Run a schedule's bake-off now."""
    schedule = await find_schedule(app, message, name)
    await start_bakeoff(app, chat, message, await new_extra_run(app, message, schedule))


async def offer_run(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Ask whether to run a schedule now, with what it costs; the only one, if none is named."""
    await _offer_run(app, chat, message, await find_schedule(app, message, name))


async def press_run(app: AppContext, chat: Chat, message: IncomingMessage, id_: str) -> None:
    """Ask whether to run the schedule of a button now, with what it costs."""
    await _offer_run(app, chat, message, await _schedule_of_button(app, message, id_, "run"))


async def _offer_run(app: AppContext, chat: Chat, message: IncomingMessage, one: Schedule) -> None:
    bakeoff = await new_extra_run(app, message, one)
    post = extra_run_post(one, bakeoff, await estimate_bakeoff(app, bakeoff))
    if not chat.is_room:
        how = Note(f"To run it, type `schedule run {one.name}`.")
        post = replace(post, parts=(*post.parts[:-1], how))
    await chat.send_ephemeral(message, post)


async def press_extra_run(app: AppContext, chat: Chat, message: IncomingMessage, id_: str) -> None:
    """Run the schedule of a button now, once its presser has seen the cost."""
    one = await _schedule_of_button(app, message, id_, "run")
    await start_bakeoff(app, chat, message, await new_extra_run(app, message, one))


async def set_subscribed(
    app: AppContext, chat: Chat, message: IncomingMessage, name: str, *, wanted: bool
) -> None:
    """Mention this person when the results of a schedule change, or no longer."""
    one = await find_schedule(app, message, name)
    await _subscribe(app, chat, message, one, wanted=wanted)


async def press_subscribe(
    app: AppContext, chat: Chat, message: IncomingMessage, id_: str, *, wanted: bool
) -> None:
    """Subscribe the presser to the schedule of a button, or end that."""
    one = await _schedule_of_button(app, message, id_)
    await _subscribe(app, chat, message, one, wanted=wanted)


async def _subscribe(
    app: AppContext, chat: Chat, message: IncomingMessage, one: Schedule, *, wanted: bool
) -> None:
    def subscribed(schedule: Schedule) -> Schedule:
        others = tuple(id_ for id_ in schedule.subscribers if id_ != message.asker.id)
        added = (message.asker.id,) if wanted else ()
        return replace(schedule, subscribers=(*others, *added))

    await _change(app, one, subscribed)
    are = "are" if wanted else "are no longer"
    line = f"You {are} mentioned when the results of {one.name} change."
    button = Buttons((subscribe_button(one, subscribed=wanted),))
    parts = (Line(line), button) if chat.is_room else (Note(line),)
    await chat.send_ephemeral(message, Post(parts, line))


async def _change(
    app: AppContext, one: Schedule, change: Callable[[Schedule], Schedule]
) -> Schedule:
    """Store a change of a schedule as it is now, since several people may press at once."""
    async with app.locks.lock(f"schedule {one.id}"):
        stored = await bakeoff_stores(app).schedules.list_all()
        newest = next((schedule for schedule in stored if schedule.id == one.id), None)
        if newest is None:
            raise ScheduleError(GONE)
        changed = change(newest)
        await save_schedule(app, changed)
    return changed


async def _schedule_of_button(
    app: AppContext, message: IncomingMessage, id_: str, what: str = ""
) -> Schedule:
    """Return a visible schedule by its id; only admins may do `what`, everybody else the rest."""
    check_admitted(app.access, message)
    if what:
        check_admin(app.access, message, f"{what} a schedule")
    schedules = await load_visible_schedules(app, message)
    for schedule in schedules:
        if schedule.id == id_:
            return schedule
    raise ScheduleError(GONE)


async def new_scheduled_bakeoff(app: AppContext, schedule: Schedule, slot: str = "") -> Bakeoff:
    """Return the bake-off of a slot with the current suite and panel, not stored yet.

    Raise SuiteError, PanelError or AccessDeniedError if the schedule cannot run.
    """
    place = schedule.place
    maker = Asker(schedule.made_by, schedule.made_by)
    # A direct message has no server, or the id of its channel starts with D.
    is_direct = not place.workspace or place.channel.startswith("D")
    await app.reload_settings(place)
    check_admitted(app.access, IncomingMessage("", maker, place, "", is_direct=is_direct))
    panel = app.panel(schedule.panel, place)
    suite = await load_suite_to_run(app, place, schedule.suite)
    suite, panel = apply_methods(suite, panel, (), app.registry)
    return Bakeoff(
        id=schedule.bakeoff_id(slot),
        panel=panel,
        suite=suite,
        place=place,
        asked_by=schedule.made_by,
        at=app.now(),
        cap_micro=schedule.cap_micro,
        schedule=schedule.id,
    )


async def unfinished_run(app: AppContext, schedule: Schedule, but: str = "") -> Bakeoff | None:
    """Return an unfinished bake-off of a schedule, other than that of the slot `but`."""
    query = BakeoffQuery(schedule=schedule.id, unfinished=True)
    unfinished = await bakeoff_stores(app).bakeoffs.list_recent(wanted=query)
    current = schedule.bakeoff_id(but)
    return next((one for one in unfinished if one.id != current), None)


# --- Operations on schedules, for the command, the page and the command line.

MAX_SCHEDULES = 50  # schedules of one workspace


async def new_schedule(
    app: AppContext, there: IncomingMessage, request: ScheduleRequest
) -> Schedule:
    """Return a new schedule that reports where `there` was sent, not stored yet.

    Raise CouncilError if the suite, time or panel is missing, unknown or not allowed.
    """
    if not request.suite:
        lines = await bakeoff_stores(app).suites.list_summaries(there.place.scope)
        known = ", ".join(line.name for line in lines) or "none yet"
        raise ScheduleError(f"Name a suite, such as suite:NAME. Known suites: {known}.")
    if not request.cron:
        raise ScheduleError(
            f"Say when to run it, in words or as a cron expression: {SCHEDULE_EXAMPLE}."
        )
    scope = there.place.scope
    await app.reload_settings(there.place)
    if len(await bakeoff_stores(app).schedules.list_all(scope)) >= MAX_SCHEDULES:
        raise ScheduleError(f"There are already {MAX_SCHEDULES} schedules here. Remove one first.")
    schedule = Schedule(
        id=app.new_id(),
        name=request.name,
        suite=request.suite,
        panel=app.panel(request.panel or None, there.place).name,
        cron=request.cron,
        zone=request.zone or bakeoff_settings(app).zone,
        words=request.when,
        place=_reporting_place(there.place),
        made_by=there.asker.id,
        made_at=app.now(),
        scope=scope,
        cap_micro=_cap(request, None),
    )
    await new_scheduled_bakeoff(app, schedule)
    return starting_now(app, schedule)


async def edit_schedule(
    app: AppContext, before: Schedule, request: ScheduleRequest, there: IncomingMessage | None
) -> Schedule:
    """Return the edited schedule, not stored yet; it reports to `there` if that is given."""
    after = replace(
        before,
        suite=request.suite or before.suite,
        panel=request.panel or before.panel,
        cron=request.cron or before.cron,
        zone=request.zone or before.zone,
        words=request.when or before.words,
        place=_reporting_place(there.place) if there else before.place,
        cap_micro=_cap(request, before.cap_micro),
    )
    if request == ScheduleRequest(request.name):
        raise ScheduleError(
            "Say what to change after the name, for example: edit weekly-sql every day 09:00 "
            "cap:$2."
        )
    await new_scheduled_bakeoff(app, after)
    is_rescheduled = (after.cron, after.zone) != (before.cron, before.zone)
    return starting_now(app, after) if is_rescheduled else after


def _cap(request: ScheduleRequest, before: int | None) -> int | None:
    if request.cap_micro is None:
        return before
    return None if request.cap_micro == NO_CAP else request.cap_micro


def starting_now(app: AppContext, schedule: Schedule) -> Schedule:
    """Return a schedule that starts now: no earlier slot counts as missed."""
    now = app.now().astimezone(ZoneInfo(schedule.zone))
    return replace(schedule, last_slot=slot_at(now))


async def save_schedule(app: AppContext, schedule: Schedule) -> None:
    """Store a schedule and announce the change to every process."""
    await bakeoff_stores(app).schedules.save(schedule)
    await app.pubsub.publish(SCHEDULES)


async def resume_schedule(app: AppContext, schedule: Schedule) -> Schedule:
    """Resume a paused schedule; raise CouncilError if it cannot run."""
    await new_scheduled_bakeoff(app, schedule)
    resumed = starting_now(app, replace(schedule, paused=False))
    await save_schedule(app, resumed)
    return resumed


async def remove_schedule(app: AppContext, schedule: Schedule) -> None:
    """Delete a schedule and announce the change."""
    await bakeoff_stores(app).schedules.remove(schedule.id)
    await app.pubsub.publish(SCHEDULES)


async def new_extra_run(app: AppContext, message: IncomingMessage, schedule: Schedule) -> Bakeoff:
    """Return an extra bake-off of a schedule, with one id for each event; not stored yet."""
    slot = f"now-{message.key}"
    if await unfinished_run(app, schedule, but=slot):
        raise ScheduleError(
            f"Schedule {schedule.name!r} is already running. Wait for its result, or cancel it."
        )
    bakeoff = replace(await new_scheduled_bakeoff(app, schedule, slot), asked_by=message.asker.id)
    # In the terminal the asker watches it; elsewhere it reports where the schedule does.
    is_watched = message.place.chat == "terminal" and bakeoff.place.chat in LOCAL_CHATS
    return replace(bakeoff, place=message.place) if is_watched else bakeoff


async def load_schedule_status(app: AppContext, schedule: Schedule) -> ScheduleStatus:
    """Return a schedule with its last run and its cost, or why it cannot run."""
    newest = await bakeoff_stores(app).bakeoffs.list_recent(1, BakeoffQuery(schedule=schedule.id))
    line = ScheduleStatus(schedule, app.now(), newest[0] if newest else None)
    try:
        bakeoff = await new_scheduled_bakeoff(app, schedule)
        costs = await estimate_bakeoff(app, bakeoff)
    except CouncilError as error:
        return replace(line, fault=str(error))
    names = seat_names(bakeoff.panel)
    unknown = tuple(names[key] for key in costs.unknown)
    cap = schedule.cap_micro
    cost = Estimate(costs.micro if cap is None else min(cap, costs.micro), unknown=unknown)
    return replace(line, cost=cost, questions=len(bakeoff.suite.questions))


async def find_schedule(app: AppContext, message: IncomingMessage, name: str) -> Schedule:
    """Return a visible schedule by name, the only one for ""; ScheduleError lists those known."""
    schedules = await load_visible_schedules(app, message)
    for schedule in schedules:
        if schedule.name == name:
            return schedule
    if not name and len(schedules) == 1:
        return schedules[0]
    known = ", ".join(schedule.name for schedule in schedules) or "none yet"
    if not name:
        raise ScheduleError(f"Name a schedule. Known schedules: {known}.")
    raise ScheduleError(f"There is no schedule {name!r} here. Known schedules: {known}.")


async def load_visible_schedules(app: AppContext, message: IncomingMessage) -> tuple[Schedule, ...]:
    """Return the schedules that the author of a message may see.

    The operator in the terminal sees all, members those of their workspace, but private channels'
    only there. Guests, and everybody in a shared channel, see only that channel's.
    """
    here = message.place
    if here.chat == "terminal":
        return await bakeoff_stores(app).schedules.list_all()
    is_limited = message.asker.is_guest or message.is_shared
    return tuple(
        one
        for one in await bakeoff_stores(app).schedules.list_all(here.scope)
        if one.place.shares_channel(here) or not (is_limited or one.place.private)
    )


def _reporting_place(place: Place) -> Place:
    """Return where it reports: outside of threads, unless private; on the page for `web`."""
    if place.chat in LOCAL_CHATS:
        return Place("web")
    return place if place.within != place.channel else replace(place, thread=None)
