"""Schedules made, changed, found, run at once and removed, whoever asks for it."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from zoneinfo import ZoneInfo

from bot.bakeoffs.opening import expected
from bot.chat import Said
from bot.commands.desk import SCHEDULES, Desk
from bot.commands.fitting import fitted, still_going
from bot.render.formatting import names_of as seat_names
from bot.render.schedules import Cost, Lined
from bot.schedules.parser import EXAMPLE, NO_CAP, Wanted
from council.bakeoffs.models import Bakeoff, Schedule, slot_of
from council.bakeoffs.ports import WantedBakeoffs
from council.errors import CouncilError, ScheduleError
from council.places import HOUSE, Place

MOST = 50  # schedules of one workspace


async def made(desk: Desk, there: Said, wanted: Wanted) -> Schedule:
    """Give the schedule that is wanted where something is said, not kept yet.

    Raises CouncilError, with what there is instead, for what is not there or not allowed.
    """
    if not wanted.suite:
        lines = await desk.bench.suites.lines(there.place.scope)
        known = ", ".join(line.name for line in lines) or "none yet"
        raise ScheduleError(f"Which suite? Name one, as in suite:NAME; known suites: {known}.")
    if not wanted.cron:
        raise ScheduleError(f"When? Say it in words or as a cron: {EXAMPLE}.")
    scope = there.place.scope
    await desk.look_up(there.place)
    if len(await desk.bench.schedules.every(scope)) >= MOST:
        raise ScheduleError(f"There are {MOST} schedules here already: remove one first.")
    schedule = Schedule(
        id=desk.new_id(),
        name=wanted.name,
        suite=wanted.suite,
        panel=desk.panel(wanted.panel or None, there.place).name,
        cron=wanted.cron,
        zone=wanted.zone or desk.zone,
        words=wanted.when,
        place=_told_in(there.place),
        made_by=there.asker.id,
        made_at=desk.now(),
        scope=scope,
        cap_micro=_cap(wanted, None),
    )
    await fitted(desk, schedule)
    return standing(desk, schedule)


async def changed(desk: Desk, before: Schedule, wanted: Wanted, there: Said | None) -> Schedule:
    """Give a schedule with what is wanted of it changed, `there` if it is to report elsewhere."""
    after = replace(
        before,
        suite=wanted.suite or before.suite,
        panel=wanted.panel or before.panel,
        cron=wanted.cron or before.cron,
        zone=wanted.zone or before.zone,
        words=wanted.when or before.words,
        place=_told_in(there.place) if there else before.place,
        cap_micro=_cap(wanted, before.cap_micro),
    )
    if wanted == Wanted(wanted.name):
        raise ScheduleError(
            "Say what is to change after the name, as in: edit weekly-sql every day 09:00 cap:$2."
        )
    await fitted(desk, after)
    comes_anew = (after.cron, after.zone) != (before.cron, before.zone)
    return standing(desk, after) if comes_anew else after


def _cap(wanted: Wanted, before: int | None) -> int | None:
    if wanted.cap_micro is None:
        return before
    return None if wanted.cap_micro == NO_CAP else wanted.cap_micro


def standing(desk: Desk, schedule: Schedule) -> Schedule:
    """Give a schedule that begins now: no slot from before counts as missed."""
    now = desk.now().astimezone(ZoneInfo(schedule.zone))
    return replace(schedule, last_slot=slot_of(now))


async def kept(desk: Desk, schedule: Schedule) -> None:
    """Keep a schedule, and have every process go by it at once."""
    await desk.bench.schedules.keep(schedule)
    await desk.bus.tell(SCHEDULES)


async def resumed(desk: Desk, schedule: Schedule) -> Schedule:
    """Go on with a schedule that was paused; CouncilError where it could not run."""
    await fitted(desk, schedule)
    going = standing(desk, replace(schedule, paused=False))
    await kept(desk, going)
    return going


async def removed(desk: Desk, schedule: Schedule) -> None:
    """Have a schedule no more, from this moment on."""
    await desk.bench.schedules.remove(schedule.id)
    await desk.bus.tell(SCHEDULES)


async def run_now(desk: Desk, said: Said, schedule: Schedule) -> Bakeoff:
    """Give a bake-off of a schedule beside its slots, the same for the same event; not kept yet."""
    slot = f"now-{said.key}"
    if before := await still_going(desk, schedule, but=slot):
        raise ScheduleError(
            f"Bake-off {before.id} of schedule {schedule.name!r} still goes: wait for its end, or "
            "cancel it."
        )
    bakeoff = replace(await fitted(desk, schedule, slot), asked_by=said.asker.id)
    # In the terminal somebody watches; elsewhere it reports where the schedule does.
    watched = said.place.chat == "terminal" and bakeoff.place.chat in HOUSE
    return replace(bakeoff, place=said.place) if watched else bakeoff


async def lined(desk: Desk, schedule: Schedule) -> Lined:
    """Give a schedule with all that is told of it: its last run, its cost, what is in its way."""
    newest = await desk.bench.bakeoffs.recent(1, WantedBakeoffs(schedule=schedule.id))
    line = Lined(schedule, desk.now(), newest[0] if newest else None)
    try:
        bakeoff = await fitted(desk, schedule)
        costs = await expected(desk, bakeoff)
    except CouncilError as error:
        return replace(line, fault=str(error))
    names = seat_names(bakeoff.panel)
    unknown = tuple(names[key] for key in costs.unknown)
    cap = schedule.cap_micro
    cost = Cost(costs.micro if cap is None else min(cap, costs.micro), unknown)
    return replace(line, cost=cost, questions=len(bakeoff.suite.questions))


async def found(desk: Desk, said: Said, name: str) -> Schedule:
    """Give the schedule of a name that may be seen here; ScheduleError names those there are."""
    seen = await visible(desk, said)
    for schedule in seen:
        if schedule.name == name:
            return schedule
    if not name:
        raise ScheduleError(f"Which schedule? There are: {_names(seen)}.")
    raise ScheduleError(f"There is no schedule {name!r} here; there are: {_names(seen)}.")


async def visible(desk: Desk, said: Said) -> tuple[Schedule, ...]:
    """Give the schedules that somebody may see where they are.

    The operator in the terminal sees all; elsewhere they are the workspace's, those of private
    channels in these alone. Guests, and where others read along, see the channel's own.
    """
    here = said.place
    if here.chat == "terminal":
        return await desk.bench.schedules.every()
    narrow = said.asker.is_guest or said.is_shared
    return tuple(
        one
        for one in await desk.bench.schedules.every(here.scope)
        if one.place.shares_channel(here) or not (narrow or one.place.private)
    )


def check_own(desk: Desk, schedule: Schedule, said: Said, what: str) -> None:
    """Raise ScheduleError unless this is who made it, an admin, or somebody of the house."""
    if said.place.chat in HOUSE or said.asker.id == schedule.made_by:
        return
    if not desk.access.is_admin(said.asker):
        whose = "the one who made it, or an admin," if desk.access.admins else "the one who made it"
        raise ScheduleError(f"Only {whose} can {what} schedule {schedule.name!r}.")


def today(desk: Desk) -> date:
    """Give the day it is where the house is."""
    return desk.now().astimezone(ZoneInfo(desk.zone)).date()


def _names(schedules: Iterable[Schedule]) -> str:
    return ", ".join(schedule.name for schedule in schedules) or "none yet"


def _told_in(place: Place) -> Place:
    """Give where it reports: in no thread, unless that is private; the house's, on the page."""
    if place.chat in HOUSE:
        return Place("web")
    return place if place.within != place.channel else replace(place, thread=None)
