"""The command `bakeoff`: propose, start, list, show, cancel and resume bake-offs."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from string import ascii_letters

from bot.access import check_admin
from bot.bakeoffs import lifecycle
from bot.bakeoffs.access import can_read_bakeoff, listable_bakeoffs
from bot.bakeoffs.baselines import bless, unbless
from bot.bakeoffs.commands.suites import check_may_change, check_own_people
from bot.bakeoffs.lifecycle import is_bakeoff_running, load_progress
from bot.bakeoffs.matrix import load_matrix, load_results
from bot.bakeoffs.outcomes import load_outcome
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.posting import load_frame, render_result
from bot.bakeoffs.registry import RunningElsewhereError
from bot.bakeoffs.render.bakeoffs import (
    QUESTIONS,
    RESUME,
    bakeoff_state,
    bakeoff_title,
    proposal_post,
    running_post,
)
from bot.bakeoffs.render.leaderboard import whole_board_posts
from bot.bakeoffs.render.matrix import matrix_post, methods_post, question_posts
from bot.bakeoffs.runner import estimate_bakeoff
from bot.chat import (
    Button,
    Buttons,
    Chat,
    File,
    Heading,
    IncomingMessage,
    Line,
    Note,
    Post,
    Table,
    send_note,
)
from bot.commands.buttons import ROUND
from bot.commands.parameters import LAST, Arguments
from bot.context import AppContext
from bot.render.formatting import count_noun, local_time, panel_seat_names
from bot.render.lists import command_button, list_post
from council.bakeoffs.graders import check_graders
from council.bakeoffs.models import Bakeoff, Suite, with_method
from council.errors import BakeoffError, SuiteError
from council.methods import BLIND_RANKING, BOTH_ORDERS, find_method, known_methods
from council.money import cap_micro_usd
from council.panel import Panel
from council.places import LOCAL_CHATS, Place
from council.registry import NO_PLUGINS, Registry

_CAP = re.compile(r"\$?(\d+(?:\.\d+)?)\$?")


def parse_cap_text(text: str) -> int:
    """Parse "$1.50", "1.5" or "2$" into micro-dollars; raise BakeoffError for anything else."""
    match = _CAP.fullmatch(text.strip())
    micro = cap_micro_usd(float(match[1])) if match else 0
    if micro <= 0:
        raise BakeoffError(
            f"{text!r} is not an amount of money. Write the cost limit in dollars, such as $1.50."
        )
    return micro


CANCELLED = "It was cancelled."
NO_RESULTS = "No question is finished yet."
UNREADABLE = "This bake-off can't be opened here. Open it in the channel where it was posted."
NO_BAKEOFFS = "No bake-offs yet. Start one with `/council bakeoff SUITE`."


async def propose_bakeoff(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Show the cost of a bake-off and how to start it; with `now`, start it."""
    cap = parse_cap_text(arguments["cap"]) if "cap" in arguments else None
    methods = [one for one in arguments.get("method", "").split(",") if one]
    bakeoff = await new_bakeoff(app, message, arguments["suite"], arguments.get("panel"), methods)
    bakeoff = replace(bakeoff, cap_micro=cap)
    if "now" in arguments:
        await start_bakeoff(app, chat, message, bakeoff)
        return
    cost = await estimate_bakeoff(app, bakeoff)
    value = proposal_value(bakeoff, methods, app.registry) if chat.is_room else None
    await chat.send_ephemeral(message, proposal_post(bakeoff, cost, value, methods))


async def new_bakeoff(
    app: AppContext,
    message: IncomingMessage,
    suite: str,
    panel: str | None,
    methods: Sequence[str] = (),
) -> Bakeoff:
    """Return a new bake-off, not stored yet; raise SuiteError, PanelError or AccessDeniedError."""
    check_own_people(message)
    suite_to_run = await load_suite_to_run(app, message.place, suite)
    await app.reload_settings(message.place)
    chosen = app.panel(panel, message.place)
    asked_suite, asked_panel = apply_methods(suite_to_run, chosen, methods, app.registry)
    return bakeoff_of(app, message, asked_suite, asked_panel)


def bakeoff_of(app: AppContext, message: IncomingMessage, suite: Suite, panel: Panel) -> Bakeoff:
    """Return the bake-off that a message starts now, not stored yet."""
    return Bakeoff(
        id=f"bo:{message.key}",
        suite=suite,
        panel=panel,
        place=message.place,
        asked_by=message.asker.id,
        at=app.now(),
    )


def apply_methods(
    suite: Suite, panel: Panel, methods: Sequence[str], registry: Registry
) -> tuple[Suite, Panel]:
    """Return what a bake-off asks whom: the panel under one method, or each question under several.

    Without methods it is the suite's own, else the usual one. Raise SuiteError or PanelError for a
    panel that cannot grade the suite or use a method.
    """
    suite.check_graders(panel)
    check_graders(suite, registry)
    methods = methods or [suite.method or usual_method(suite, panel)]
    for method in methods:
        find_method(method, registry).check(panel)
    several = tuple(dict.fromkeys(methods))
    if len(several) > 1:
        return suite.under(several), panel
    return suite, with_method(panel, "".join(several))


def usual_method(suite: Suite, panel: Panel) -> str:
    """Return the method under which a panel is asked a suite, unless another one is chosen.

    Where nothing is graded, judges rank in both orders, which agrees with people more often.
    """
    own = panel.terms.method
    return BOTH_ORDERS.name if own == BLIND_RANKING.name and not suite.is_graded else own


async def start_bakeoff(
    app: AppContext, chat: Chat, message: IncomingMessage, bakeoff: Bakeoff
) -> None:
    """Store a new bake-off and run it, once for each event."""
    if not await bakeoff_stores(app).bakeoffs.open(bakeoff):
        await chat.send_ephemeral(
            message, _state_post(chat, bakeoff, "This bake-off has already started.")
        )
        return
    await _run(app, chat, message, bakeoff, "has started")


async def resume_with_cap(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Resume a bake-off, with a new cap if one is given."""
    cap = parse_cap_text(arguments["cap"]) if "cap" in arguments else None
    await resume_bakeoff(app, chat, message, arguments.get("bakeoff", LAST), cap)


async def resume_bakeoff(
    app: AppContext, chat: Chat, message: IncomingMessage, name: str, cap: int | None = None
) -> None:
    """Resume a bake-off that ended early, with a new cap if given."""
    check_may_change(app, message, "resume a bake-off")
    bakeoff = await find_bakeoff(app, message, name)
    again = await lifecycle.reopen_bakeoff(app, bakeoff, cap)
    await _run(app, chat, message, again, "is resumed")


async def _run(
    app: AppContext, chat: Chat, message: IncomingMessage, bakeoff: Bakeoff, what: str
) -> None:
    """Run a bake-off; where the asker watches it, as in the terminal, leaving cancels it."""
    questions = count_noun(len(bakeoff.suite.questions), "question")
    line = f"The bake-off of {bakeoff.suite.name} {what}: {questions}."
    await chat.send_ephemeral(message, _state_post(chat, bakeoff, line))
    shown = _posting_chat(app, chat, message, bakeoff)
    if not chat.shows_progress:
        await lifecycle.begin_bakeoff(app, shown, bakeoff)
        return
    try:
        await lifecycle.run_bakeoff(app, shown, bakeoff)
    except asyncio.CancelledError:
        if not chat.is_room:
            with suppress(BakeoffError):
                await lifecycle.stop_bakeoff(app, bakeoff, CANCELLED)
        raise


def _state_post(chat: Chat, bakeoff: Bakeoff, line: str) -> Post:
    """Return a line on a bake-off with a button that shows it; elsewhere, with how to show it."""
    if chat.is_room:
        follow = command_button("Follow", f"bakeoff show {bakeoff.id}")
        return Post((Line(line), Buttons((follow,))), line)
    how = f"See it with `/council bakeoff show {bakeoff.typed_name}`."
    return Post((Note(line), Note(how)), line)


def _posting_chat(
    app: AppContext, chat: Chat, message: IncomingMessage, bakeoff: Bakeoff
) -> Chat | None:
    here, there = message.place, bakeoff.place
    if (here.chat, here.workspace) == (there.chat, there.workspace):
        return chat if chat.shows_progress else None
    return app.find_chat(there)


async def cancel_bakeoff(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Cancel a bake-off; its closed rounds stay."""
    check_admin(app.access, message, "cancel a bake-off")
    bakeoff = await find_bakeoff(app, message, name or LAST)
    was_held = await is_bakeoff_running(app, bakeoff)
    kept = await lifecycle.stop_bakeoff(app, bakeoff, CANCELLED)
    shown = _posting_chat(app, chat, message, bakeoff)
    is_told_elsewhere = app.job_queue is not None and bakeoff.place.chat not in LOCAL_CHATS
    if not was_held and (shown or is_told_elsewhere):
        with suppress(RunningElsewhereError):  # that process posts the result
            await lifecycle.begin_bakeoff(
                app, shown, await bakeoff_stores(app).bakeoffs.load(bakeoff.id)
            )
    questions = count_noun(len(bakeoff.suite.questions), "question")
    line = (
        f"The bake-off of {bakeoff.suite.name} is cancelled. {kept} of {questions} are saved, and "
        "nothing more is spent."
    )
    how = Note(f"Resume it with `/council bakeoff resume {bakeoff.typed_name}`.")
    button = Buttons((Button(RESUME, "Resume", bakeoff.id),))
    await chat.send_ephemeral(message, Post((Note(line), button if chat.is_room else how), line))


async def set_baseline(
    app: AppContext, chat: Chat, message: IncomingMessage, name: str, *, wanted: bool
) -> None:
    """Compare later runs of a suite by a panel with a bake-off, or with the runs before again."""
    check_may_change(app, message, "choose a baseline")
    bakeoff = await find_bakeoff(app, message, name or LAST)
    await send_note(chat, message, await change_baseline(app, bakeoff, wanted=wanted))


async def change_baseline(app: AppContext, bakeoff: Bakeoff, *, wanted: bool) -> str:
    """Make a bake-off the baseline of its suite and panel, or no longer; return what holds now."""
    runs = f"Later runs of {bakeoff.suite.name} by {bakeoff.panel.name} are compared with"
    if wanted:
        await bless(app, bakeoff)
        return f"{runs} the one of {bakeoff.at.day} {bakeoff.at:%B}, until you choose another one."
    await unbless(app, bakeoff)
    return f"{runs} the runs before them."


async def list_bakeoffs(app: AppContext, chat: Chat, message: IncomingMessage, _: str) -> None:
    """List the newest bake-offs."""
    there = (await load_readable_bakeoffs(app, message))[:10]
    if not there:
        await send_note(chat, message, NO_BAKEOFFS)
        return
    if chat.is_room:
        lines = [
            (
                f"{x.suite.name} on {x.panel.name} · {await _outcome(app, x)} · {local_time(x.at)}",
                f"bakeoff show {x.id}",
            )
            for x in there
        ]
        how = "Start one with `/council bakeoff SUITE`."
        await chat.send_ephemeral(message, list_post("Newest bake-offs", lines, how))
        return
    rows = [
        (
            x.suite.name,
            x.panel.name,
            f"{x.at:%Y-%m-%d %H:%M}",
            await _outcome(app, x),
            x.id,
        )
        for x in there
    ]
    table = Table(("Suite", "Panel", "Started (UTC)", "Outcome", "Bake-off"), tuple(rows))
    note = Note(
        "Open one with `/council bakeoff show ID`; start one with `/council bakeoff SUITE`."
    )
    await chat.send_ephemeral(
        message, Post((Heading(count_noun(len(rows), "bake-off")), table, note))
    )


async def _outcome(app: AppContext, bakeoff: Bakeoff) -> str:
    """Return the outcome of a bake-off, else how far it is."""
    progress = await load_progress(app, bakeoff)
    return (await load_outcome(app, progress)).rstrip(".") or bakeoff_state(progress)


async def show_bakeoff(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Show the progress of a running bake-off, else its result."""
    bakeoff = await find_bakeoff(app, message, name or LAST)
    progress = await load_progress(app, bakeoff)
    if await is_bakeoff_running(app, bakeoff):
        frame = await load_frame(app, chat, bakeoff)
        await chat.send_ephemeral(message, running_post(progress, "", frame))
        return
    thread = (await render_result(app, progress, await load_frame(app, chat, bakeoff))).thread
    if chat.is_room:  # its buttons show the rest
        await chat.send_ephemeral(message, thread.root)
        return
    for post in (thread.root, *thread.replies):
        if not any(isinstance(part, File) for part in post.parts):
            await chat.send_ephemeral(message, post)


async def show_questions(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """Show what each model did on each question; in a room, a long list opens by a button."""
    bakeoff = await find_bakeoff(app, message, name or LAST)
    if not chat.is_room:
        run = await load_matrix(app, await load_progress(app, bakeoff))
        await chat.send_ephemeral(message, matrix_post(run, _names(app, bakeoff)))
        return
    posts = await load_question_posts(app, message, bakeoff.id)
    if len(posts) > 1:
        line = f"{bakeoff_title(bakeoff)}: {count_noun(len(bakeoff.suite.questions), 'question')}"
        posts = [Post((Line(line), Buttons((Button(QUESTIONS, "Questions", bakeoff.id),))), line)]
    for page in chat.pages(posts[0]):
        await chat.send_ephemeral(message, page)


async def load_question_posts(
    app: AppContext, message: IncomingMessage, bakeoff_id: str
) -> list[Post]:
    """Return what each model of a readable bake-off did on each question."""
    bakeoff = await load_readable_bakeoff(app, message, bakeoff_id)
    run = await load_matrix(app, await load_progress(app, bakeoff))
    return question_posts(run, _names(app, bakeoff), ROUND)


async def load_board_posts(
    app: AppContext, message: IncomingMessage, bakeoff_id: str
) -> list[Post]:
    """Return the whole board of a readable bake-off, or its methods next to each other."""
    bakeoff = await load_readable_bakeoff(app, message, bakeoff_id)
    results = await load_results(app, await load_progress(app, bakeoff))
    if methods := methods_post(results.run.matrix):
        return [methods]
    if results.board.board.rows:
        return whole_board_posts(results.board)
    return [Post((Note(NO_RESULTS),), NO_RESULTS)]


def _names(app: AppContext, bakeoff: Bakeoff) -> dict[str, str]:
    return panel_seat_names((*app.panels.values(), bakeoff.panel))


async def load_readable_bakeoff(
    app: AppContext, message: IncomingMessage, bakeoff_id: str
) -> Bakeoff:
    """Return the bake-off of a button; BakeoffError, without its id, if it may not be read."""
    with suppress(BakeoffError):
        bakeoff = await bakeoff_stores(app).bakeoffs.load(bakeoff_id)
        if can_read_bakeoff(message, bakeoff):
            return bakeoff
    raise BakeoffError(UNREADABLE)


async def load_readable_bakeoffs(app: AppContext, message: IncomingMessage) -> tuple[Bakeoff, ...]:
    """Return the bake-offs that the author of a message may read, newest first."""
    bakeoffs = await bakeoff_stores(app).bakeoffs.list_recent(wanted=listable_bakeoffs(message))
    return tuple(bakeoff for bakeoff in bakeoffs if can_read_bakeoff(message, bakeoff))


async def find_bakeoff(app: AppContext, message: IncomingMessage, prefix: str) -> Bakeoff:
    """Return the readable bake-off whose id starts so, the `last`, or the last of a suite.

    Raise BakeoffError if there is none, or more than one.
    """
    there = await load_readable_bakeoffs(app, message)
    if prefix.lower() == LAST:
        if not there:
            raise BakeoffError(NO_BAKEOFFS)
        return there[0]
    starts = (prefix, f"bo:{prefix}")  # the prefix of those that a person started may be omitted
    matches = [bakeoff for bakeoff in there if bakeoff.id.startswith(starts)]
    matches = matches or [one for one in there if one.suite.name == prefix.lower()][:1]
    exact = [bakeoff for bakeoff in matches if bakeoff.id in starts] or matches
    if len(exact) != 1:
        if exact:
            raise BakeoffError(f"Several bake-offs start with {prefix!r}. Give more of the id.")
        if prefix.startswith("sched:"):  # of a button, since nobody types these
            raise BakeoffError(UNREADABLE)
        raise BakeoffError(
            f"There is no bake-off {prefix!r} here. `/council bakeoff list` lists them."
        )
    return exact[0]


async def load_suite_to_run(app: AppContext, place: Place, name: str) -> Suite:
    """Load a suite by name; raise SuiteError, which lists the known suites."""
    try:
        return await bakeoff_stores(app).suites.load(place.scope, name.lower())
    except SuiteError:
        lines = await bakeoff_stores(app).suites.list_summaries(place.scope)
        known = ", ".join(line.name for line in lines) or "none yet, `/council suite add` makes one"
        raise SuiteError(f"There is no suite {name!r}. Known suites: {known}.") from None


# --- Proposals: bake-offs in the value of a button, short enough for any chat.

PROPOSE_AGAIN = "Run `/council bakeoff` again to see the current cost."


def proposal_value(
    bakeoff: Bakeoff, methods: Sequence[str] = (), registry: Registry = NO_PLUGINS
) -> str:
    """Return a bake-off that is not stored yet, and its methods, as the value of a button."""
    suite, cap = bakeoff.suite.as_stored, "" if bakeoff.cap_micro is None else bakeoff.cap_micro
    names = _digest(suite.name), suite.version, _digest(bakeoff.panel.name)
    # Each is a letter, since their names would be too long for the button of a chat.
    known = known_methods(registry)
    letters = "".join(ascii_letters[known.index(method)] for method in dict.fromkeys(methods))
    coded = [letters + _digest(" ".join(known))[:3]] if methods else []
    return ".".join((bakeoff.id.removeprefix("bo:"), *names, str(cap), *coded))


def _proposed_methods(coded: str, registry: Registry) -> list[str]:
    letters, digest, known = coded[:-3], coded[-3:], known_methods(registry)
    if letters and digest != _digest(" ".join(known))[:3]:
        raise BakeoffError(f"The methods have changed. {PROPOSE_AGAIN}")
    return [known[ascii_letters.index(letter)] for letter in letters]


def _digest(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:8]


async def proposed_bakeoff(app: AppContext, message: IncomingMessage, value: str) -> Bakeoff:
    """Return the bake-off that a button proposes, asked by the presser.

    Raise BakeoffError if the value cannot be read, or its suite or panel has changed.
    """
    try:
        key, suite_digest, version, panel_digest, cap, *coded = value.split(".")
        cap_micro = int(cap) if cap else None
        methods = _proposed_methods("".join(coded), app.registry)
    except (ValueError, IndexError):
        raise BakeoffError(f"This button can't be read any more. {PROPOSE_AGAIN}") from None
    lines = await bakeoff_stores(app).suites.list_summaries(message.place.scope)
    suites = [line.name for line in lines if _digest(line.name) == suite_digest]
    if not suites:
        raise BakeoffError(f"The suite no longer exists. {PROPOSE_AGAIN}")
    suite = await bakeoff_stores(app).suites.load(message.place.scope, suites[0])
    if suite.version != version:
        raise BakeoffError(
            f"Suite {suite.name} has changed since you saw the cost. {PROPOSE_AGAIN}"
        )
    panels = [name for name in app.panels if _digest(name) == panel_digest]
    if not panels:
        raise BakeoffError(f"The panel no longer exists. {PROPOSE_AGAIN}")
    panel = app.panel(panels[0], message.place)
    suite, panel = apply_methods(suite, panel, methods, app.registry)
    return Bakeoff(
        id=f"bo:{key}",
        suite=suite,
        panel=panel,
        place=message.place,
        asked_by=message.asker.id,
        at=app.now(),
        cap_micro=cap_micro,
    )
