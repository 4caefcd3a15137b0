"""The command for recurring bake-offs: added, listed, changed, paused, run at once."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from bot.access import admitted
from bot.chat import Chat, Note, Post, Said
from bot.commands import scheduling
from bot.commands.bakeoffs import start
from bot.commands.desk import Desk
from bot.commands.scheduling import check_own, found, kept, lined, run_now
from bot.render.schedules import list_post, understood_post
from bot.schedules.parser import EXAMPLE, Wanted, read
from council.bakeoffs.models import Schedule
from council.errors import ScheduleError

Act = Callable[[Desk, Chat, Said, str], Awaitable[None]]


async def schedule(desk: Desk, chat: Chat, said: Said, words: str) -> None:
    """Do with schedules what the first word says; without one, list them."""
    verb, rest = (*words.split(None, 1), "", "")[:2]
    act = _ACTS.get(verb.lower() or "list")
    if act is None:
        raise ScheduleError(
            f"I cannot {verb!r} schedules, but {', '.join(_ACTS)}: /council schedule {EXAMPLE}."
        )
    await act(desk, chat, said, rest.strip())


async def _add(desk: Desk, chat: Chat, said: Said, words: str) -> None:
    wanted = read(words, scheduling.today(desk))
    there = await _there(desk, chat, said, wanted)
    new = await scheduling.made(desk, there, wanted)
    await kept(desk, new)
    await _show(desk, chat, said, new, wanted)


async def _edit(desk: Desk, chat: Chat, said: Said, words: str) -> None:
    wanted = read(words, scheduling.today(desk))
    before = await _own(desk, said, wanted.name, "edit")
    there = await _there(desk, chat, said, wanted) if wanted.channel else None
    after = await scheduling.changed(desk, before, wanted, there)
    await kept(desk, after)
    await _show(desk, chat, said, after)


async def _there(desk: Desk, chat: Chat, said: Said, wanted: Wanted) -> Said:
    """Give what was said as if it were where the schedule reports; admitted there as well."""
    if not wanted.channel:
        return said
    there = await chat.elsewhere(said, wanted.channel)
    admitted(desk.access, there)
    return there


async def _show(
    desk: Desk, chat: Chat, said: Said, one: Schedule, wanted: Wanted | None = None
) -> None:
    """Repeat what was understood; say whose the time zone is where none was named."""
    house = desk.zone if wanted and not wanted.zone else ""
    await chat.whisper(said, understood_post(await lined(desk, one), said.place, house))


async def _list(desk: Desk, chat: Chat, said: Said, _: str) -> None:
    lines = [await lined(desk, one) for one in await scheduling.visible(desk, said)]
    await chat.whisper(said, list_post(lines, said.place))


async def _pause(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    one = await _own(desk, said, name, "pause")
    await kept(desk, replace(one, paused=True))
    line = f"Schedule {name} is paused: `/council schedule resume {name}` goes on with it."
    await _tell(chat, said, line)


async def _resume(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    one = await _own(desk, said, name, "resume")
    await _show(desk, chat, said, await scheduling.resumed(desk, one))


async def _remove(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    await scheduling.removed(desk, await _own(desk, said, name, "remove"))
    await _tell(chat, said, f"Schedule {name} is removed; its bake-offs stay.")


async def _run(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    await start(desk, chat, said, await run_now(desk, said, await _own(desk, said, name, "run")))


async def _subscribe(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    await _call(desk, said, name, wanted=True)
    await _tell(chat, said, f"You are mentioned when something changed in {name}.")


async def _unsubscribe(desk: Desk, chat: Chat, said: Said, name: str) -> None:
    await _call(desk, said, name, wanted=False)
    await _tell(chat, said, f"You are not mentioned any more when something changed in {name}.")


async def _call(desk: Desk, said: Said, name: str, *, wanted: bool) -> None:
    one = await found(desk, said, name)
    others = tuple(id_ for id_ in one.subscribers if id_ != said.asker.id)
    own = (said.asker.id,) if wanted else ()
    await kept(desk, replace(one, subscribers=(*others, *own)))


async def _own(desk: Desk, said: Said, name: str, what: str) -> Schedule:
    one = await found(desk, said, name)
    check_own(desk, one, said, what)
    return one


async def _tell(chat: Chat, said: Said, line: str) -> None:
    await chat.whisper(said, Post((Note(line),), line))


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
