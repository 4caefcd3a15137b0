"""What a schedule runs, and where that is told: its bake-off, and the way to its place."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from zoneinfo import ZoneInfo

from bot.access import admitted
from bot.bakeoffs.runner import expected
from bot.chat import Asker, Chat, IncomingMessage, Note, Post
from bot.commands.bakeoffs import meant_suite, start
from bot.context import SCHEDULES, AppContext
from bot.render.formatting import names_of as seat_names
from bot.render.schedules import ScheduleCost, ScheduleStatus, list_post, understood_post
from bot.schedules.parser import EXAMPLE, NO_CAP, ScheduleRequest, read
from council.bakeoffs.models import Bakeoff, Schedule, slot_of
from council.bakeoffs.ports import BakeoffQuery
from council.errors import CouncilError, ScheduleError
from council.places import HOUSE, Place

# --- What a schedule runs, and where that is told: its bake-off, and the way to its place.


@dataclass(frozen=True, slots=True)
class ReportTarget:
    """How a place is told; `chat` is None where people look for themselves."""

    chat: Chat | None


def way_to(app: AppContext, place: Place) -> ReportTarget | None:
    """Give how a place is told; None as long as its chat is not connected."""
    if place.chat in HOUSE:
        return ReportTarget(None)
    give = app.chats.get(place.chat)
    chat = give(place) if give else None
    return ReportTarget(chat) if chat else None


async def fitted(app: AppContext, schedule: Schedule, slot: str = "") -> Bakeoff:
    """Give the bake-off of a slot, of its suite and panel as they are now, not kept yet.

    Raises SuiteError, PanelError or NotAdmittedError where there can be none.
    """
    place = schedule.place
    maker = Asker(schedule.made_by, schedule.made_by)
    # In direct messages Discord has no server, and Slack's channels have ids of their own.
    is_direct = not place.workspace or place.channel.startswith("D")
    admitted(app.access, IncomingMessage("", maker, place, "", is_direct=is_direct))
    panel = app.panel(schedule.panel, place)
    return Bakeoff(
        id=schedule.bakeoff_id(slot),
        suite=await meant_suite(app, place, schedule.suite),
        panel=panel,
        place=place,
        asked_by=schedule.made_by,
        at=app.now(),
        cap_micro=schedule.cap_micro,
        schedule=schedule.id,
    )


async def still_going(app: AppContext, schedule: Schedule, but: str = "") -> Bakeoff | None:
    """Give a bake-off of the schedule that is not over, save the one of a certain slot."""
    wanted = BakeoffQuery(schedule=schedule.id, unfinished=True)
    unfinished = await app.bakeoff_stores.bakeoffs.recent(wanted=wanted)
    own = schedule.bakeoff_id(but)
    return next((one for one in unfinished if one.id != own), None)


# --- Schedules made, changed, found, run at once and removed, whoever asks for it.

MOST = 50  # schedules of one workspace


async def made(app: AppContext, there: IncomingMessage, wanted: ScheduleRequest) -> Schedule:
    """Give the schedule that is wanted where something is said, not kept yet.

    Raises CouncilError, with what there is instead, for what is not there or not allowed.
    """
    if not wanted.suite:
        lines = await app.bakeoff_stores.suites.lines(there.place.scope)
        known = ", ".join(line.name for line in lines) or "none yet"
        raise ScheduleError(f"Which suite? Name one, as in suite:NAME; known suites: {known}.")
    if not wanted.cron:
        raise ScheduleError(f"When? Say it in words or as a cron: {EXAMPLE}.")
    scope = there.place.scope
    await app.look_up(there.place)
    if len(await app.bakeoff_stores.schedules.every(scope)) >= MOST:
        raise ScheduleError(f"There are {MOST} schedules here already: remove one first.")
    schedule = Schedule(
        id=app.new_id(),
        name=wanted.name,
        suite=wanted.suite,
        panel=app.panel(wanted.panel or None, there.place).name,
        cron=wanted.cron,
        zone=wanted.zone or app.zone,
        words=wanted.when,
        place=_told_in(there.place),
        made_by=there.asker.id,
        made_at=app.now(),
        scope=scope,
        cap_micro=_cap(wanted, None),
    )
    await fitted(app, schedule)
    return standing(app, schedule)


async def changed(
    app: AppContext, before: Schedule, wanted: ScheduleRequest, there: IncomingMessage | None
) -> Schedule:
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
    if wanted == ScheduleRequest(wanted.name):
        raise ScheduleError(
            "Say what is to change after the name, as in: edit weekly-sql every day 09:00 cap:$2."
        )
    await fitted(app, after)
    comes_anew = (after.cron, after.zone) != (before.cron, before.zone)
    return standing(app, after) if comes_anew else after


def _cap(wanted: ScheduleRequest, before: int | None) -> int | None:
    if wanted.cap_micro is None:
        return before
    return None if wanted.cap_micro == NO_CAP else wanted.cap_micro


def standing(app: AppContext, schedule: Schedule) -> Schedule:
    """Give a schedule that begins now: no slot from before counts as missed."""
    now = app.now().astimezone(ZoneInfo(schedule.zone))
    return replace(schedule, last_slot=slot_of(now))


async def kept(app: AppContext, schedule: Schedule) -> None:
    """Keep a schedule, and have every process go by it at once."""
    await app.bakeoff_stores.schedules.keep(schedule)
    await app.pubsub.publish(SCHEDULES)


async def resumed(app: AppContext, schedule: Schedule) -> Schedule:
    """Go on with a schedule that was paused; CouncilError where it could not run."""
    await fitted(app, schedule)
    going = standing(app, replace(schedule, paused=False))
    await kept(app, going)
    return going


async def removed(app: AppContext, schedule: Schedule) -> None:
    """Have a schedule no more, from this moment on."""
    await app.bakeoff_stores.schedules.remove(schedule.id)
    await app.pubsub.publish(SCHEDULES)


async def run_now(app: AppContext, said: IncomingMessage, schedule: Schedule) -> Bakeoff:
    """Give a bake-off of a schedule beside its slots, the same for the same event; not kept yet."""
    slot = f"now-{said.key}"
    if before := await still_going(app, schedule, but=slot):
        raise ScheduleError(
            f"Bake-off {before.id} of schedule {schedule.name!r} still goes: wait for its end, or "
            "cancel it."
        )
    bakeoff = replace(await fitted(app, schedule, slot), asked_by=said.asker.id)
    # In the terminal somebody watches; elsewhere it reports where the schedule does.
    watched = said.place.chat == "terminal" and bakeoff.place.chat in HOUSE
    return replace(bakeoff, place=said.place) if watched else bakeoff


async def lined(app: AppContext, schedule: Schedule) -> ScheduleStatus:
    """Give a schedule with all that is told of it: its last run, its cost, what is in its way."""
    newest = await app.bakeoff_stores.bakeoffs.recent(1, BakeoffQuery(schedule=schedule.id))
    line = ScheduleStatus(schedule, app.now(), newest[0] if newest else None)
    try:
        bakeoff = await fitted(app, schedule)
        costs = await expected(app, bakeoff)
    except CouncilError as error:
        return replace(line, fault=str(error))
    names = seat_names(bakeoff.panel)
    unknown = tuple(names[key] for key in costs.unknown)
    cap = schedule.cap_micro
    cost = ScheduleCost(costs.micro if cap is None else min(cap, costs.micro), unknown)
    return replace(line, cost=cost, questions=len(bakeoff.suite.questions))


async def found(app: AppContext, said: IncomingMessage, name: str) -> Schedule:
    """Give the schedule of a name that may be seen here; ScheduleError names those there are."""
    seen = await visible(app, said)
    for schedule in seen:
        if schedule.name == name:
            return schedule
    if not name:
        raise ScheduleError(f"Which schedule? There are: {_names(seen)}.")
    raise ScheduleError(f"There is no schedule {name!r} here; there are: {_names(seen)}.")


async def visible(app: AppContext, said: IncomingMessage) -> tuple[Schedule, ...]:
    """Give the schedules that somebody may see where they are.

    The operator in the terminal sees all; elsewhere they are the workspace's, those of private
    channels in these alone. Guests, and where others read along, see the channel's own.
    """
    here = said.place
    if here.chat == "terminal":
        return await app.bakeoff_stores.schedules.every()
    narrow = said.asker.is_guest or said.is_shared
    return tuple(
        one
        for one in await app.bakeoff_stores.schedules.every(here.scope)
        if one.place.shares_channel(here) or not (narrow or one.place.private)
    )


def check_own(app: AppContext, schedule: Schedule, said: IncomingMessage, what: str) -> None:
    """Raise ScheduleError unless this is who made it, an admin, or somebody of the house."""
    if said.place.chat in HOUSE or said.asker.id == schedule.made_by:
        return
    if not app.access.is_admin(said.asker):
        whose = "the one who made it, or an admin," if app.access.admins else "the one who made it"
        raise ScheduleError(f"Only {whose} can {what} schedule {schedule.name!r}.")


def today(app: AppContext) -> date:
    """Give the day it is where the house is."""
    return app.now().astimezone(ZoneInfo(app.zone)).date()


def _names(schedules: Iterable[Schedule]) -> str:
    return ", ".join(schedule.name for schedule in schedules) or "none yet"


def _told_in(place: Place) -> Place:
    """Give where it reports: in no thread, unless that is private; the house's, on the page."""
    if place.chat in HOUSE:
        return Place("web")
    return place if place.within != place.channel else replace(place, thread=None)


# --- The command for recurring bake-offs: added, listed, changed, paused, run at once.

Act = Callable[[AppContext, Chat, IncomingMessage, str], Awaitable[None]]


async def schedule(app: AppContext, chat: Chat, said: IncomingMessage, words: str) -> None:
    """Do with schedules what the first word says; without one, list them."""
    verb, rest = (*words.split(None, 1), "", "")[:2]
    act = _ACTS.get(verb.lower() or "list")
    if act is None:
        raise ScheduleError(
            f"I cannot {verb!r} schedules, but {', '.join(_ACTS)}: /council schedule {EXAMPLE}."
        )
    await act(app, chat, said, rest.strip())


async def _add(app: AppContext, chat: Chat, said: IncomingMessage, words: str) -> None:
    wanted = read(words, today(app))
    there = await _there(app, chat, said, wanted)
    new = await made(app, there, wanted)
    await kept(app, new)
    await _show(app, chat, said, new, wanted)


async def _edit(app: AppContext, chat: Chat, said: IncomingMessage, words: str) -> None:
    wanted = read(words, today(app))
    before = await _own(app, said, wanted.name, "edit")
    there = await _there(app, chat, said, wanted) if wanted.channel else None
    after = await changed(app, before, wanted, there)
    await kept(app, after)
    await _show(app, chat, said, after)


async def _there(
    app: AppContext, chat: Chat, said: IncomingMessage, wanted: ScheduleRequest
) -> IncomingMessage:
    """Give what was said as if it were where the schedule reports; admitted there as well."""
    if not wanted.channel:
        return said
    there = await chat.in_channel(said, wanted.channel)
    admitted(app.access, there)
    return there


async def _show(
    app: AppContext,
    chat: Chat,
    said: IncomingMessage,
    one: Schedule,
    wanted: ScheduleRequest | None = None,
) -> None:
    """Repeat what was understood; say whose the time zone is where none was named."""
    house = app.zone if wanted and not wanted.zone else ""
    await chat.send_ephemeral(said, understood_post(await lined(app, one), said.place, house))


async def _list(app: AppContext, chat: Chat, said: IncomingMessage, _: str) -> None:
    lines = [await lined(app, one) for one in await visible(app, said)]
    await chat.send_ephemeral(said, list_post(lines, said.place))


async def _pause(app: AppContext, chat: Chat, said: IncomingMessage, name: str) -> None:
    one = await _own(app, said, name, "pause")
    await kept(app, replace(one, paused=True))
    line = f"Schedule {name} is paused: `/council schedule resume {name}` goes on with it."
    await _tell(chat, said, line)


async def _resume(app: AppContext, chat: Chat, said: IncomingMessage, name: str) -> None:
    one = await _own(app, said, name, "resume")
    await _show(app, chat, said, await resumed(app, one))


async def _remove(app: AppContext, chat: Chat, said: IncomingMessage, name: str) -> None:
    await removed(app, await _own(app, said, name, "remove"))
    await _tell(chat, said, f"Schedule {name} is removed; its bake-offs stay.")


async def _run(app: AppContext, chat: Chat, said: IncomingMessage, name: str) -> None:
    await start(app, chat, said, await run_now(app, said, await _own(app, said, name, "run")))


async def _subscribe(app: AppContext, chat: Chat, said: IncomingMessage, name: str) -> None:
    await _call(app, said, name, wanted=True)
    await _tell(chat, said, f"You are mentioned when something changed in {name}.")


async def _unsubscribe(app: AppContext, chat: Chat, said: IncomingMessage, name: str) -> None:
    await _call(app, said, name, wanted=False)
    await _tell(chat, said, f"You are not mentioned any more when something changed in {name}.")


async def _call(app: AppContext, said: IncomingMessage, name: str, *, wanted: bool) -> None:
    one = await found(app, said, name)
    others = tuple(id_ for id_ in one.subscribers if id_ != said.asker.id)
    own = (said.asker.id,) if wanted else ()
    await kept(app, replace(one, subscribers=(*others, *own)))


async def _own(app: AppContext, said: IncomingMessage, name: str, what: str) -> Schedule:
    one = await found(app, said, name)
    check_own(app, one, said, what)
    return one


async def _tell(chat: Chat, said: IncomingMessage, line: str) -> None:
    await chat.send_ephemeral(said, Post((Note(line),), line))


_ACTS: Mapping[str, Act] = {
    "add": _add,
    "list": _list,
    "pause": _pause,
    "resume": _resume,
    "edit": _edit,
    "remove": _remove,
    "run": _run,
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
}
_NAMED = "pause|resume|remove|run|subscribe|unsubscribe"
GRAMMAR = rf"|list|(?:{_NAMED})(?:\s+\S+)?|(?:add|edit)\b.*"
