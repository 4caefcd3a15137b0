"""The commands of bake-offs: begin one, list them, show one, cancel one, go on with one."""

import asyncio
from contextlib import suppress

from bot.access import check_own_bakeoff
from bot.bakeoffs import holding
from bot.bakeoffs.following import is_held
from bot.bakeoffs.holds import HeldElsewhereError
from bot.bakeoffs.opening import expected
from bot.bakeoffs.results import result_of
from bot.bakeoffs.standing import standing
from bot.chat import Chat, File, Heading, Note, Post, Said, Table
from bot.commands.bakeoff_meant import meant_bakeoff, meant_suite, readable_bakeoffs
from bot.commands.bakeoff_words import Words, read_words
from bot.commands.desk import Desk
from bot.commands.proposals import Proposal
from bot.commands.suites import check_own_people
from bot.render.bakeoffs import proposal_post, running_post, state_of
from bot.render.formatting import counted
from council.bakeoffs.models import Bakeoff
from council.errors import BakeoffError
from council.places import HOUSE

SHOWN = 10
CANCELLED = "It was cancelled."
BEGUN_BEFORE = "This bake-off was begun already: `/council bakeoff show {id}` shows it."


async def bakeoffs(desk: Desk, chat: Chat, said: Said, text: str) -> None:
    """Do what is wanted with bake-offs."""
    words = read_words(text)
    acts = {"list": show_list, "show": show, "cancel": cancel, "resume": resume, "start": propose}
    await acts[words.verb](desk, chat, said, words)


async def propose(desk: Desk, chat: Chat, said: Said, words: Words) -> None:
    """Say what a bake-off comes to, and how to start it; where that was said already, start it."""
    bakeoff = await proposed(desk, said, words)
    if words.now:
        await start(desk, chat, said, bakeoff)
        return
    cost = await expected(desk, bakeoff)
    value = Proposal.of(bakeoff).value if chat.is_room else None
    await chat.whisper(said, proposal_post(bakeoff, cost, value))


async def proposed(desk: Desk, said: Said, words: Words) -> Bakeoff:
    """Give the bake-off that is wanted, not kept yet; SuiteError, PanelError, NotAdmittedError."""
    check_own_people(said)
    suite = await meant_suite(desk, said.place, words.name)
    await desk.look_up(said.place)
    panel = desk.panel(words.panel, said.place)
    own = (f"bo:{said.key}", suite, panel, said.place, said.asker.id, desk.now())
    return Bakeoff(*own, words.cap_micro)


async def start(desk: Desk, chat: Chat, said: Said, bakeoff: Bakeoff) -> None:
    """Keep a new bake-off and hold it, once for each event."""
    if not await desk.bench.bakeoffs.open(bakeoff):
        line = BEGUN_BEFORE.format(id=bakeoff.id)
        await chat.whisper(said, Post((Note(line),), line))
        return
    await _held(desk, chat, said, bakeoff, "begun")


async def resume(desk: Desk, chat: Chat, said: Said, words: Words) -> None:
    """Go on with a bake-off that ended early, under another cap where one is named."""
    bakeoff = await meant_bakeoff(desk, said, words.name)
    check_own_bakeoff(desk.access, bakeoff, said.asker, "go on with a bake-off")
    again = await holding.reopened(desk, bakeoff, words.cap_micro)
    await _held(desk, chat, said, again, "gone on with")


async def _held(desk: Desk, chat: Chat, said: Said, bakeoff: Bakeoff, what: str) -> None:
    """Hold a bake-off; whoever stays to watch has it stopped by leaving."""
    line = f"Bake-off {bakeoff.id} is {what}: `/council bakeoff cancel {bakeoff.id}` stops it."
    await chat.whisper(said, Post((Note(line),), line))
    shown = _way(desk, chat, said, bakeoff)
    if not chat.follows:
        await holding.begin(desk, shown, bakeoff)
        return
    try:
        await holding.hold(desk, shown, bakeoff)
    except asyncio.CancelledError:
        if not chat.is_room:
            with suppress(BakeoffError):
                await holding.cancel(desk, bakeoff, CANCELLED)
        raise


def _way(desk: Desk, chat: Chat, said: Said, bakeoff: Bakeoff) -> Chat | None:
    """Give the chat of the place that a bake-off reports in, None where nobody is told there."""
    own, there = said.place, bakeoff.place
    if (own.chat, own.workspace) == (there.chat, there.workspace):
        return chat if chat.follows else None
    way = desk.ways.get(there.chat)
    return way(there) if way else None


async def cancel(desk: Desk, chat: Chat, said: Said, words: Words) -> None:
    """Stop spending on a bake-off; what there is of it is kept."""
    bakeoff = await meant_bakeoff(desk, said, words.name)
    check_own_bakeoff(desk.access, bakeoff, said.asker, "cancel a bake-off")
    was_held = await is_held(desk, bakeoff)
    kept = await holding.cancel(desk, bakeoff, CANCELLED)
    shown = _way(desk, chat, said, bakeoff)
    is_told_elsewhere = desk.works is not None and bakeoff.place.chat not in HOUSE
    if not was_held and (shown or is_told_elsewhere):
        with suppress(HeldElsewhereError):  # that process tells of it
            await holding.begin(desk, shown, await desk.bench.bakeoffs.load(bakeoff.id))
    of = counted(len(bakeoff.suite.questions), "question")
    line = (
        f"Bake-off {bakeoff.id} is cancelled: {kept} of {of} are kept, and nothing more is spent. "
        f"`/council bakeoff resume {bakeoff.id}` goes on."
    )
    await chat.whisper(said, Post((Note(line),), line))


async def show_list(desk: Desk, chat: Chat, said: Said, _: Words) -> None:
    """List the newest bake-offs."""
    there = (await readable_bakeoffs(desk, said))[:SHOWN]
    if not there:
        note = Note("No bake-off has been held here yet: `/council bakeoff SUITE` holds one.")
        await chat.whisper(said, Post((note,)))
        return
    rows = [
        (x.id, f"{x.at:%Y-%m-%d %H:%M}", x.suite.name, x.panel.name, await _state(desk, x))
        for x in there
    ]
    table = Table(("Bake-off", "Begun (UTC)", "Suite", "Panel", "State"), tuple(rows))
    note = Note("`/council bakeoff show ID` shows one, `/council bakeoff SUITE` holds a new one.")
    await chat.whisper(said, Post((Heading(counted(len(rows), "bake-off")), table, note)))


async def _state(desk: Desk, bakeoff: Bakeoff) -> str:
    return state_of(await standing(desk, bakeoff))


async def show(desk: Desk, chat: Chat, said: Said, words: Words) -> None:
    """Show how a bake-off stands, or what it came to."""
    bakeoff = await meant_bakeoff(desk, said, words.name)
    progress = await standing(desk, bakeoff)
    if await is_held(desk, bakeoff):
        await chat.whisper(said, running_post(progress, ""))
        return
    thread = (await result_of(desk, progress)).thread
    for post in (thread.root, *thread.replies):
        if not any(isinstance(part, File) for part in post.parts):
            await chat.whisper(said, post)
