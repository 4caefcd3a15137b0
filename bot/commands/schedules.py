"""The command for recurring bake-offs: added, listed, changed, paused, run at once."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from bot.access import admitted
from bot.bakeoffs.holding import hold
from bot.chat import Chat, Note, Post, Said
from bot.commands import scheduling
from bot.commands.costing import costing
from bot.commands.desk import Desk
from bot.commands.scheduling import check_own, found, kept, visible
from bot.render.schedules import Costing, Lined, list_post, understood_post
from bot.schedules.words import EXAMPLE, Wanted, read
from council.bakeoffs.bakeoff import Bakeoff
from council.bakeoffs.ports import WantedBakeoffs
from council.bakeoffs.schedule import Schedule
from council.errors import CouncilError, ScheduleError

Act = Callable[[Desk, Chat, Said, str], Awaitable[None]]


async def schedule(desk: Desk, chat: Chat, said: Said, words: str) -> None:
    """Do with schedules what the first word says."""
    verb, rest = (*words.split(None, 1), "", "")[:2]
    act = _ACTS.get(verb.lower() or "list")
    if act is None:
        known = ", ".join(_ACTS)
        raise ScheduleError(f"I can {known} schedules, not {verb!r}: /council schedule {EXAMPLE}.")
    await act(desk, chat, said, rest.strip())


async def _add(desk: Desk, chat: Chat, said: Said, words: str) -> None:
    wanted = read(words, _today(desk))
    there = await _there(desk, chat, said, wanted)
    await add(desk, chat, said, wanted, there)


async def add(desk: Desk, chat: Chat, said: Said, wanted: Wanted, there: Said) -> Schedule:
    """Keep a new schedule that reports where `there` is, and say what was understood."""
    new = await scheduling.made(desk, there, wanted)
    await kept(desk, new)
    await chat.whisper(said, understood_post(await lined(desk, new), said.place, wanted))
    return new


async def _edit(desk: Desk, chat: Chat, said: Said, words: str) -> None:
    wanted = read(words, _today(desk))
    before = await _own(desk, said, wanted.name, "edit")
    there = await _there(desk, chat, said, wanted) if wanted.channel else None
    after = await scheduling.changed(desk, before, there, wanted)
    await kept(desk, after)
    named = replace(wanted, zone=after.zone)
    await chat.whisper(said, understood_post(await lined(desk, after), said.place, named))


async def _there(desk: Desk, chat: Chat, said: Said, wanted: Wanted) -> Said:
    """Give what was said as if it were where the schedule reports; admitted there as well."""
    if not wanted.channel:
        return said
    there = await chat.elsewhere(said, wanted.channel)
    admitted(desk.access, there)
    return there


async def _list(desk: Desk, chat: Chat, said: Said, _: str) -> None:
    lines = [await lined(desk, one) for one in await visible(desk, said)]
    await chat.whisper(said, list_post(lines, said.place))


async def _pause(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    one = await _own(desk, said, name, "pause")
    await kept(desk, replace(one, paused=True))
    await _tell(chat, said, f"Schedule {one.name} is paused: `resume {one.name}` goes on with it.")


async def _resume(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    one = await _own(desk, said, name, "resume")
    await resume(desk, one)
    await chat.whisper(said, understood_post(await lined(desk, replace(one, paused=False)), said.place))


async def resume(desk: Desk, one: Schedule) -> None:
    """Go on with a schedule that was paused; CouncilError where it could not run."""
    await scheduling.fitted(desk, one)
    await kept(desk, scheduling.standing(desk, replace(one, paused=False)))


async def _remove(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    one = await _own(desk, said, name, "remove")
    await remove(desk, one)
    await _tell(chat, said, f"Schedule {one.name} is removed; its bake-offs stay.")


async def remove(desk: Desk, one: Schedule) -> None:
    """Have a schedule no more, from this moment on."""
    await desk.bench.schedules.remove(one.id)
    desk.schedules_changed()


async def _run(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    bakeoff = await run_now(desk, said, await _own(desk, said, name, "run"))
    if bakeoff is None:
        await _tell(chat, said, f"Schedule {name} is being run already.")
        return
    await _tell(chat, said, f"Schedule {name} is run now, as bake-off {bakeoff.id}.")
    way = scheduling.way_to(desk, bakeoff.place)
    await hold(desk, way.chat if way and way.chat else chat, bakeoff)


async def run_now(desk: Desk, said: Said, one: Schedule) -> Bakeoff | None:
    """Open a bake-off of a schedule beside its slots; None where the same event has done so."""
    if before := await scheduling.still_going(desk, one, but=_now(said)):
        raise ScheduleError(
            f"Bake-off {before.id} of schedule {one.name!r} still goes: wait for its end, or "
            "cancel it."
        )
    bakeoff = replace(await scheduling.fitted(desk, one, _now(said)), asked_by=said.asker.id)
    return bakeoff if await desk.bench.bakeoffs.open(bakeoff) else None


def _now(said: Said) -> str:
    """Give what stands for the slot of a run that somebody asked for."""
    return f"now-{said.key}"


async def _subscribe(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    one = await found(desk, said, name)
    others = tuple(id_ for id_ in one.subscribers if id_ != said.asker.id)
    await kept(desk, replace(one, subscribers=(*others, said.asker.id)))
    await _tell(chat, said, f"You are mentioned when something changed in {one.name}.")


async def _unsubscribe(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    one = await found(desk, said, name)
    others = tuple(id_ for id_ in one.subscribers if id_ != said.asker.id)
    await kept(desk, replace(one, subscribers=others))
    await _tell(chat, said, f"You are not mentioned any more when something changed in {one.name}.")


async def lined(desk: Desk, one: Schedule) -> Lined:
    """Give a schedule with all that is told of it: what keeps it from running, cost, last run."""
    fault, cost = "", Costing()
    try:
        cost = await costing(desk, await scheduling.fitted(desk, one))
    except CouncilError as error:
        fault = str(error)
    newest = await desk.bench.bakeoffs.recent(1, WantedBakeoffs(schedule=one.id))
    return Lined(one, desk.now(), cost, newest[0] if newest else None, fault, desk.zone)


async def _own(desk: Desk, said: Said, name: str, what: str) -> Schedule:
    one = await found(desk, said, name)
    check_own(desk, one, said, what)
    return one


async def _tell(chat: Chat, said: Said, line: str) -> None:
    await chat.whisper(said, Post((Note(line),), line))


def _today(desk: Desk):  # noqa: ANN202
    return desk.now().astimezone(ZoneInfo(desk.zone)).date()


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
_ONE = "pause|resume|remove|run|subscribe|unsubscribe"
GRAMMAR = rf"|list|(?:{_ONE})(?:\s+\S+)?|(?:add|edit)\b.*"
