"""What may follow `/council bakeoff`: a suite with its choices, or an act on a bake-off."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from bot.access import check_own_bakeoff, listable_bakeoffs, reads_bakeoff
from bot.bakeoffs import lifecycle as holding
from bot.bakeoffs.lifecycle import is_held, standing
from bot.bakeoffs.posting import result_of
from bot.bakeoffs.runner import expected
from bot.chat import Chat, File, Heading, IncomingMessage, Note, Post, Table
from bot.commands.suites import check_own_people
from bot.context import AppContext
from bot.coordination.bakeoff_registry import RunningElsewhereError
from bot.render.bakeoffs import proposal_post, running_post, state_of
from bot.render.formatting import counted
from council.bakeoffs.models import Bakeoff, Suite
from council.errors import BakeoffError, SuiteError
from council.money import cap_micro
from council.places import HOUSE, Place

# --- What may follow `/council bakeoff`: a suite with its choices, or an act on a bake-off.

Verb = Literal["start", "list", "show", "cancel", "resume"]

LAST = "last"
_OPTION = r"(?:panel|cap|suite):\S+|now"
# One word with its choices; a question has more of them.
_SUITE = rf"(?:(?:{_OPTION})\s+)*\S*(?:\s+(?:{_OPTION}))*"
GRAMMAR = rf"{_SUITE}|list|(?:show|cancel|resume)\s+\S+(?:\s+cap:\S+)?"
_ACTS: dict[str, Verb] = {"show": "show", "cancel": "cancel", "resume": "resume"}
_CAP = re.compile(r"\$?(\d+(?:\.\d+)?)\$?")
HOW = "Say `/council bakeoff SUITE panel:NAME cap:$1.50`; panel and cap may be left out."


@dataclass(frozen=True, slots=True)
class BakeoffArguments:
    """What is wanted: `name` is a suite's to start one, else a bake-off's id or `last`."""

    verb: Verb
    name: str = ""
    panel: str | None = None
    cap_micro: int | None = None
    now: bool = False


def read_words(text: str) -> BakeoffArguments:
    """Read what follows the command; BakeoffError, which says how, for what cannot be read."""
    words = text.split()
    if not words or [word.lower() for word in words] == ["list"]:
        return BakeoffArguments("list")
    options = dict(_option(word) for word in words if _is_option(word))
    names = [word for word in words if not _is_option(word)]
    names += [options["suite"]] if "suite" in options else []
    cap = read_cap(options["cap"]) if "cap" in options else None
    if names and names[0].lower() in _ACTS:
        return _act(_ACTS[names[0].lower()], names[1:], cap)
    if len(names) != 1:
        raise BakeoffError(f"That names {len(names) or 'no'} suites where one is wanted. {HOW}")
    return BakeoffArguments("start", names[0], options.get("panel"), cap, "now" in options)


def _act(verb: Verb, names: list[str], cap: int | None) -> BakeoffArguments:
    if len(names) > 1:
        raise BakeoffError(f"Name one bake-off to {verb}, or `{LAST}`.")
    return BakeoffArguments(verb, names[0] if names else LAST, cap_micro=cap)


def _is_option(word: str) -> bool:
    return re.fullmatch(_OPTION, word, re.IGNORECASE) is not None


def _option(word: str) -> tuple[str, str]:
    name, _, value = word.partition(":")
    return name.lower(), value


def read_cap(text: str) -> int:
    """Give the micro-dollars of "$1.50", "1.5" or "2$"; BakeoffError for what is no amount."""
    found = _CAP.fullmatch(text.strip())
    micro = cap_micro(float(found[1])) if found else 0
    if micro <= 0:
        raise BakeoffError(f"{text!r} is no cap: write an amount in dollars, as in cap:$1.50.")
    return micro


# --- Which bake-off somebody means, among those they may read, and which suite.

_PREFIX = "bo:"  # of the ids of those that somebody began; it may be left out


async def readable_bakeoffs(app: AppContext, said: IncomingMessage) -> tuple[Bakeoff, ...]:
    """Give the bake-offs that somebody may read, newest first."""
    found = await app.bakeoff_stores.bakeoffs.recent(wanted=listable_bakeoffs(said))
    return tuple(bakeoff for bakeoff in found if reads_bakeoff(said, bakeoff))


async def find_bakeoff(app: AppContext, said: IncomingMessage, wanted: str) -> Bakeoff:
    """Give the bake-off whose id starts so, or the newest; BakeoffError where there is none."""
    there = await readable_bakeoffs(app, said)
    if wanted.lower() == LAST:
        if not there:
            raise BakeoffError(
                "No bake-off has been held here yet: `/council bakeoff SUITE` holds one."
            )
        return there[0]
    starts = (wanted, f"{_PREFIX}{wanted}")
    found = [bakeoff for bakeoff in there if bakeoff.id.startswith(starts)]
    exact = [bakeoff for bakeoff in found if bakeoff.id in starts] or found
    if len(exact) != 1:
        if exact:
            raise BakeoffError(f"Several bake-offs begin with {wanted!r}: give more of the id.")
        raise BakeoffError(
            f"There is no bake-off {wanted!r} here: `/council bakeoff list` lists those there are."
        )
    return exact[0]


async def meant_suite(app: AppContext, place: Place, name: str) -> Suite:
    """Give a suite by name; SuiteError, which names those there are, where there is none."""
    try:
        return await app.bakeoff_stores.suites.load(place.scope, name.lower())
    except SuiteError:
        lines = await app.bakeoff_stores.suites.lines(place.scope)
        known = ", ".join(line.name for line in lines)
        raise SuiteError(
            f"There is no suite {name!r}; those there are: {known}."
            if known
            else f"There is no suite {name!r}, and no other: `/council suite add` makes one."
        ) from None


# --- Bake-offs proposed by a button: what it carries fits in any chat's, and works after a restar

ANEW = "say `/council bakeoff` again to see what it comes to now."
_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a button proposes."""

    key: str
    suite: str  # digest of its name
    version: str
    panel: str  # digest of its name
    cap_micro: int | None

    @property
    def value(self) -> str:
        """What the button carries."""
        cap = "" if self.cap_micro is None else str(self.cap_micro)
        return ".".join((self.key, self.suite, self.version, self.panel, cap))

    @classmethod
    def of(cls, bakeoff: Bakeoff) -> "Proposal":
        """Give what proposes this bake-off."""
        suite, key = bakeoff.suite, bakeoff.id.removeprefix("bo:")
        names = _digest(suite.name), suite.version, _digest(bakeoff.panel.name)
        return cls(key, *names, bakeoff.cap_micro)

    @classmethod
    def read(cls, value: str) -> "Proposal":
        """Read what a button carries; BakeoffError for what none of ours does."""
        parts = value.split(".")
        try:
            key, suite, version, panel, cap = parts
            return cls(key, suite, version, panel, int(cap) if cap else None)
        except ValueError:
            raise BakeoffError(f"This button says nothing that can be read: {ANEW}") from None


def _digest(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:_DIGITS]


async def bakeoff_of(app: AppContext, said: IncomingMessage, proposal: Proposal) -> Bakeoff:
    """Give what was proposed, as the one who presses; BakeoffError where it is another by now."""
    suite = await _suite(app, said, proposal)
    names = [name for name in app.panels if _digest(name) == proposal.panel]
    if not names:
        raise BakeoffError(f"The panel of this proposal is not there any more: {ANEW}")
    panel = app.panel(names[0], said.place)
    own = (f"bo:{proposal.key}", suite, panel, said.place, said.asker.id, app.now())
    return Bakeoff(*own, proposal.cap_micro)


async def _suite(app: AppContext, said: IncomingMessage, proposal: Proposal) -> Suite:
    lines = await app.bakeoff_stores.suites.lines(said.place.scope)
    names = [line.name for line in lines if _digest(line.name) == proposal.suite]
    if not names:
        raise BakeoffError(f"The suite of this proposal is not there any more: {ANEW}")
    suite = await app.bakeoff_stores.suites.load(said.place.scope, names[0])
    if suite.version != proposal.version:
        raise BakeoffError(f"Suite {suite.name} has changed since this was proposed: {ANEW}")
    return suite


# --- The commands of bake-offs: begin one, list them, show one, cancel one, go on with one.

SHOWN = 10
CANCELLED = "It was cancelled."
BEGUN_BEFORE = "This bake-off was begun already: `/council bakeoff show {id}` shows it."


async def bakeoffs(app: AppContext, chat: Chat, said: IncomingMessage, text: str) -> None:
    """Do what is wanted with bake-offs."""
    words = read_words(text)
    acts = {"list": show_list, "show": show, "cancel": cancel, "resume": resume, "start": propose}
    await acts[words.verb](app, chat, said, words)


async def propose(
    app: AppContext, chat: Chat, said: IncomingMessage, words: BakeoffArguments
) -> None:
    """Say what a bake-off comes to, and how to start it; where that was said already, start it."""
    bakeoff = await proposed(app, said, words)
    if words.now:
        await start(app, chat, said, bakeoff)
        return
    cost = await expected(app, bakeoff)
    value = Proposal.of(bakeoff).value if chat.is_room else None
    await chat.send_ephemeral(said, proposal_post(bakeoff, cost, value))


async def proposed(app: AppContext, said: IncomingMessage, words: BakeoffArguments) -> Bakeoff:
    """Give the bake-off that is wanted, not kept yet; SuiteError, PanelError, NotAdmittedError."""
    check_own_people(said)
    suite = await meant_suite(app, said.place, words.name)
    await app.look_up(said.place)
    panel = app.panel(words.panel, said.place)
    own = (f"bo:{said.key}", suite, panel, said.place, said.asker.id, app.now())
    return Bakeoff(*own, words.cap_micro)


async def start(app: AppContext, chat: Chat, said: IncomingMessage, bakeoff: Bakeoff) -> None:
    """Keep a new bake-off and hold it, once for each event."""
    if not await app.bakeoff_stores.bakeoffs.open(bakeoff):
        line = BEGUN_BEFORE.format(id=bakeoff.id)
        await chat.send_ephemeral(said, Post((Note(line),), line))
        return
    await _held(app, chat, said, bakeoff, "begun")


async def resume(
    app: AppContext, chat: Chat, said: IncomingMessage, words: BakeoffArguments
) -> None:
    """Go on with a bake-off that ended early, under another cap where one is named."""
    bakeoff = await find_bakeoff(app, said, words.name)
    check_own_bakeoff(app.access, bakeoff, said.asker, "go on with a bake-off")
    again = await holding.reopened(app, bakeoff, words.cap_micro)
    await _held(app, chat, said, again, "gone on with")


async def _held(
    app: AppContext, chat: Chat, said: IncomingMessage, bakeoff: Bakeoff, what: str
) -> None:
    """Hold a bake-off; whoever stays to watch has it stopped by leaving."""
    line = f"Bake-off {bakeoff.id} is {what}: `/council bakeoff cancel {bakeoff.id}` stops it."
    await chat.send_ephemeral(said, Post((Note(line),), line))
    shown = _way(app, chat, said, bakeoff)
    if not chat.follows:
        await holding.begin(app, shown, bakeoff)
        return
    try:
        await holding.hold(app, shown, bakeoff)
    except asyncio.CancelledError:
        if not chat.is_room:
            with suppress(BakeoffError):
                await holding.cancel(app, bakeoff, CANCELLED)
        raise


def _way(app: AppContext, chat: Chat, said: IncomingMessage, bakeoff: Bakeoff) -> Chat | None:
    """Give the chat of the place that a bake-off reports in, None where nobody is told there."""
    own, there = said.place, bakeoff.place
    if (own.chat, own.workspace) == (there.chat, there.workspace):
        return chat if chat.follows else None
    way = app.chats.get(there.chat)
    return way(there) if way else None


async def cancel(
    app: AppContext, chat: Chat, said: IncomingMessage, words: BakeoffArguments
) -> None:
    """Stop spending on a bake-off; what there is of it is kept."""
    bakeoff = await find_bakeoff(app, said, words.name)
    check_own_bakeoff(app.access, bakeoff, said.asker, "cancel a bake-off")
    was_held = await is_held(app, bakeoff)
    kept = await holding.cancel(app, bakeoff, CANCELLED)
    shown = _way(app, chat, said, bakeoff)
    is_told_elsewhere = app.job_queue is not None and bakeoff.place.chat not in HOUSE
    if not was_held and (shown or is_told_elsewhere):
        with suppress(RunningElsewhereError):  # that process tells of it
            await holding.begin(app, shown, await app.bakeoff_stores.bakeoffs.load(bakeoff.id))
    of = counted(len(bakeoff.suite.questions), "question")
    line = (
        f"Bake-off {bakeoff.id} is cancelled: {kept} of {of} are kept, and nothing more is spent. "
        f"`/council bakeoff resume {bakeoff.id}` goes on."
    )
    await chat.send_ephemeral(said, Post((Note(line),), line))


async def show_list(
    app: AppContext, chat: Chat, said: IncomingMessage, _: BakeoffArguments
) -> None:
    """List the newest bake-offs."""
    there = (await readable_bakeoffs(app, said))[:SHOWN]
    if not there:
        note = Note("No bake-off has been held here yet: `/council bakeoff SUITE` holds one.")
        await chat.send_ephemeral(said, Post((note,)))
        return
    rows = [
        (x.id, f"{x.at:%Y-%m-%d %H:%M}", x.suite.name, x.panel.name, await _state(app, x))
        for x in there
    ]
    table = Table(("Bake-off", "Begun (UTC)", "Suite", "Panel", "State"), tuple(rows))
    note = Note("`/council bakeoff show ID` shows one, `/council bakeoff SUITE` holds a new one.")
    await chat.send_ephemeral(said, Post((Heading(counted(len(rows), "bake-off")), table, note)))


async def _state(app: AppContext, bakeoff: Bakeoff) -> str:
    return state_of(await standing(app, bakeoff))


async def show(app: AppContext, chat: Chat, said: IncomingMessage, words: BakeoffArguments) -> None:
    """Show how a bake-off stands, or what it came to."""
    bakeoff = await find_bakeoff(app, said, words.name)
    progress = await standing(app, bakeoff)
    if await is_held(app, bakeoff):
        await chat.send_ephemeral(said, running_post(progress, ""))
        return
    thread = (await result_of(app, progress)).thread
    for post in (thread.root, *thread.replies):
        if not any(isinstance(part, File) for part in post.parts):
            await chat.send_ephemeral(said, post)
