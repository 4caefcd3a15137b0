"""Schedules made, changed, found and fitted with what they run, whoever asks for it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from bot.access import admitted
from bot.chat import Asker, Chat, Said
from bot.commands.desk import Desk
from bot.schedules.words import EXAMPLE, NO_CAP, Wanted
from council.bakeoffs.bakeoff import Bakeoff
from council.bakeoffs.ports import WantedBakeoffs
from council.bakeoffs.schedule import Schedule, slot_of
from council.errors import ScheduleError, SuiteError
from council.places import HOUSE, Place

MOST = 50  # schedules of one workspace


@dataclass(frozen=True, slots=True)
class Way:
    """How a place is told; `chat` is None where it looks for itself."""

    chat: Chat | None


def way_to(desk: Desk, place: Place) -> Way | None:
    """Give how a place is told; None as long as its chat is not connected."""
    if place.chat in HOUSE:
        return Way(None)
    give = desk.ways.get(place.chat)
    chat = give(place) if give else None
    return Way(chat) if chat else None


async def made(desk: Desk, there: Said, wanted: Wanted) -> Schedule:
    """Give the schedule that is wanted where something is said, not kept yet.

    Raises CouncilError, with what there is instead, for what is not there or not allowed.
    """
    if not wanted.suite:
        known = await suites_of(desk, there.place)
        raise ScheduleError(f"Which suite? Name it, as in suite:{(known or ('sql',))[0]}.")
    if not wanted.cron:
        raise ScheduleError(f"When? Say it in words or as a cron: {EXAMPLE}.")
    scope, now = there.place.scope, desk.now()
    if len(await desk.bench.schedules.every(scope)) >= MOST:
        raise ScheduleError(f"There are {MOST} schedules here already: remove one first.")
    zone = wanted.zone or desk.zone
    schedule = Schedule(
        id=desk.new_id(),
        name=wanted.name,
        suite=wanted.suite,
        panel=desk.panel(wanted.panel or None, there.place).name,
        cron=wanted.cron,
        zone=zone,
        words=wanted.when,
        place=told_in(there.place),
        made_by=there.asker.id,
        made_at=now,
        scope=scope,
        cap_micro=None if wanted.cap_micro == NO_CAP else wanted.cap_micro,
        # What came before it was made is nothing it missed.
        last_slot=slot_of(now.astimezone(ZoneInfo(zone))),
    )
    await fitted(desk, schedule)
    return schedule


async def changed(desk: Desk, before: Schedule, there: Said | None, wanted: Wanted) -> Schedule:
    """Give a schedule with what is wanted of it changed, `there` if it is to report elsewhere."""
    zone, cap = wanted.zone or before.zone, wanted.cap_micro
    after = replace(
        before,
        suite=wanted.suite or before.suite,
        panel=wanted.panel or before.panel,
        cron=wanted.cron or before.cron,
        zone=zone,
        words=wanted.when or before.words,
        place=told_in(there.place) if there else before.place,
        cap_micro=before.cap_micro if cap is None else None if cap == NO_CAP else cap,
    )
    if after == before:
        raise ScheduleError(
            "Say what is to change after the name, as in: edit weekly-sql every day 09:00 cap:$2."
        )
    await fitted(desk, after)
    return standing(desk, after) if (after.cron, zone) != (before.cron, before.zone) else after


def standing(desk: Desk, schedule: Schedule) -> Schedule:
    """Give a schedule that begins now: no slot from before counts as missed."""
    now = desk.now().astimezone(ZoneInfo(schedule.zone))
    return replace(schedule, last_slot=slot_of(now))


async def kept(desk: Desk, schedule: Schedule) -> None:
    """Keep a schedule, and have this process go by it at once."""
    await desk.bench.schedules.keep(schedule)
    desk.schedules_changed()


async def fitted(desk: Desk, schedule: Schedule, slot: str = "") -> Bakeoff:
    """Give the bake-off of a slot, of its suite and panel as they are now, not kept yet.

    Raises SuiteError, PanelError or NotAdmittedError where there can be none.
    """
    place = schedule.place
    maker = Asker(schedule.made_by, schedule.made_by)
    # In direct messages Discord has no server, and Slack's channels have ids of their own.
    is_direct = not place.workspace or place.channel.startswith("D")
    admitted(desk.access, Said("", maker, place, "", is_direct=is_direct))
    panel = desk.panel(schedule.panel, place)
    try:
        suite = await desk.bench.suites.load(schedule.scope, schedule.suite)
    except SuiteError as error:
        known = ", ".join(await suites_of(desk, place)) or "none yet"
        raise SuiteError(
            f"There is no suite {schedule.suite!r}; known suites: {known}."
        ) from error
    return Bakeoff(
        id=schedule.bakeoff_id(slot),
        suite=suite,
        panel=panel,
        place=place,
        asked_by=schedule.made_by,
        at=desk.now(),
        cap_micro=schedule.cap_micro,
        schedule=schedule.id,
    )


async def still_going(desk: Desk, schedule: Schedule, but: str = "") -> Bakeoff | None:
    """Give a bake-off of the schedule that is not over, but not the one of a certain slot."""
    wanted = WantedBakeoffs(schedule=schedule.id, unfinished=True)
    unfinished = await desk.bench.bakeoffs.recent(wanted=wanted)
    own = schedule.bakeoff_id(but)
    return next((one for one in unfinished if one.id != own), None)


async def found(desk: Desk, said: Said, name: str) -> Schedule:
    """Give the schedule of a name that may be seen here; ScheduleError names those there are."""
    seen = await visible(desk, said)
    for schedule in seen:
        if schedule.name == name:
            return schedule
    if not name:
        raise ScheduleError(f"Which schedule? There are: {names_of(seen)}.")
    raise ScheduleError(f"There is no schedule {name!r} here; there are: {names_of(seen)}.")


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
        if one.place.shares_channel(here)
        or not (narrow or one.place.private)
        or (one.made_by == said.asker.id and not narrow)
    )


def check_own(desk: Desk, schedule: Schedule, said: Said, what: str) -> None:
    """Raise ScheduleError unless this is who made it, an admin, or somebody of the house."""
    if said.place.chat in HOUSE or said.asker.id == schedule.made_by:
        return
    if not desk.access.is_admin(said.asker):
        whose = "the one who made it, or an admin," if desk.access.admins else "the one who made it"
        raise ScheduleError(f"Only {whose} can {what} schedule {schedule.name!r}.")


async def suites_of(desk: Desk, place: Place) -> tuple[str, ...]:
    """Give the names of the suites there are for a place."""
    return tuple(line.name for line in await desk.bench.suites.lines(place.scope))


def names_of(schedules: Iterable[Schedule]) -> str:
    """Give the names of schedules in a sentence."""
    return ", ".join(schedule.name for schedule in schedules) or "none yet"


def told_in(place: Place) -> Place:
    """Give the channel a schedule reports in: not a thread of it, unless that is private."""
    return place if place.within != place.channel else replace(place, thread=None)
