"""Commands on rounds: panel, rounds, show, cancel, forget, feedback, budget."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.access import (
    AccessDeniedError,
    allows_panel,
    check_own_round,
    check_readable,
    listable_rounds,
    may_administer,
    readable_rounds,
)
from bot.admin_settings import PANEL, USUAL, channel_key, load_changes
from bot.chat import (
    Button,
    Buttons,
    Chat,
    Heading,
    IncomingMessage,
    Line,
    Note,
    Post,
    SentMessage,
    Table,
    clean_text,
    send_note,
)
from bot.commands.parameters import LAST, Arguments
from bot.commands.reveal import check_revealed
from bot.context import AppContext
from bot.render.budgets import budget_post
from bot.render.formatting import count_noun, local_time, seat_names
from bot.render.lists import MAX_LISTED, command_button, list_post
from bot.render.people import named_question, with_names
from bot.render.round_report.thread import (
    brief_post,
    forgotten_line,
    round_post,
    round_state,
)
from bot.render.round_status import receivers
from bot.render.text_safety import shorten_to_line
from bot.render.voting import add_votes
from council.budget_caps import Account, channel_account, payer
from council.errors import CouncilError, RoundNotFoundError, StoreError
from council.feedback import Feedback
from council.integrity.erasure import quote_round, removable_texts
from council.panel import Panel
from council.places import Place
from council.ports import ALL_ROUNDS, RoundQuery, RoundSummary, Store
from council.rounds import Round, Stage
from storage.hash_chain import new_salt


async def load_readable_round(app: AppContext, message: IncomingMessage, round_id: str) -> Round:
    """Load a round; raise RoundNotFoundError unless the author of a message may read it here."""
    round_ = await app.store.load(round_id)
    check_readable(round_, message)
    return round_


async def find_round(app: AppContext, message: IncomingMessage, wanted: str) -> Round:
    """Load the round whose id starts so; raise RoundNotFoundError unless it may be read here."""
    try:
        return await load_readable_round(app, message, await app.store.find(wanted))
    except RoundNotFoundError:
        if readable_rounds(message) == ALL_ROUNDS:
            raise
        # The error must not reveal rounds of others, least of all a whole id.
        raise not_found_here(wanted) from None


def not_found_here(wanted: str) -> RoundNotFoundError:
    """Return the error for a round that does not exist or may not be read here."""
    return RoundNotFoundError(f"There is no round {wanted!r} here. `/council rounds` lists them.")


# --- Follow-up questions: the earlier rounds of a thread become their context.

MAX_CONTEXT_CHARACTERS = 12_000
MAX_THREAD_ROUNDS = 50  # of a channel, searched for those of a thread


async def load_thread_rounds(app: AppContext, place: Place, asked: str = "") -> tuple[Round, ...]:
    """Return the rounds of a thread that began with one, oldest first; else nothing.

    The thread's first message shows a round, or is the question of the round with the id `asked`.
    """
    first = await _first_round(app, place, asked)
    if first is None:
        return ()
    here = RoundQuery(
        chats=(place.chat,), workspace=place.workspace, here=place, only_here=True, bakeoff=""
    )
    lines = await app.store.list_summaries(MAX_THREAD_ROUNDS, here)
    later = [x.id for x in reversed(lines) if x.place.thread == place.thread and x.id != first.id]
    return (first, *[await app.store.load(round_id) for round_id in later])


async def _first_round(app: AppContext, place: Place, asked: str) -> Round | None:
    try:
        return await find_round_of_message(app, place, place.thread or "") or await app.store.load(
            asked
        )
    except RoundNotFoundError:
        return None


async def find_round_of_message(app: AppContext, place: Place, message: str) -> Round | None:
    """Return the round whose first message this is, else None."""
    round_id = await app.outbox.root_of(SentMessage(place, message))
    with suppress(RoundNotFoundError):  # a bake-off's message
        return await app.store.load(round_id) if round_id else None
    return None


def quoted_ids(rounds: Sequence[Round]) -> tuple[str, ...]:
    """Return the ids of the rounds that a context of these rounds may quote, for forgetting."""
    ids = [
        id_
        for round_ in rounds
        if not round_.forgotten
        for id_ in (round_.id, *(round_.question.quotes or ()))
    ]
    return tuple(dict.fromkeys(ids))


def context_of(rounds: Sequence[Round], limit: int = MAX_CONTEXT_CHARACTERS) -> str:
    """Return earlier rounds as the context of a question; the newest is always included."""
    lines = [quote_round(round_) for round_ in rounds if not round_.forgotten]
    return "\n\n".join(newest_that_fit(lines, min(limit, MAX_CONTEXT_CHARACTERS)))


def repeated_ids(round_: Round, asker_id: str) -> tuple[str, ...]:
    """Return the ids that a question quotes that asks a round's again; one's own is not quoted."""
    is_own = round_.question.asked_by == asker_id
    return (round_.question.quotes or ()) if is_own else quoted_ids((round_,))


def newest_that_fit(lines: list[str], limit: int = MAX_CONTEXT_CHARACTERS) -> list[str]:
    """Return as many of the last lines as fit in the context."""
    kept: list[str] = []
    left = limit
    for line in reversed(lines):
        left -= len(line) + 2
        if left < 0 and kept:
            break
        kept.insert(0, line[: max(0, limit)])
    return kept


# --- The commands panel, rounds and show

_ONE_QUESTION = "For one question, write `panel:NAME` before it."
MAX_CELL = 34  # characters of a question in a row of 80
NO_QUESTIONS = "No questions yet. Ask one with `/council QUESTION`."


async def show_panel(app: AppContext, chat: Chat, message: IncomingMessage, name: str) -> None:
    """List the panels, or pick one for this channel."""
    if name:
        panel = app.panel(name, message.place)
        if why := await _why_not_pick(app, message):
            raise AccessDeniedError(why)
        await app.pick_panel(name, message.place)
        line = f"Questions here now go to panel {name}: {_seats(panel)}."
        await send_note(chat, message, f"{line} The text goes to {receivers(panel)}.")
        return
    current = app.panel_name(message.place)
    rows = tuple(
        (f"{panel.name}{' (in use)' if panel.name == current else ''}", _seats(panel))
        for panel in app.panels.values()
        if allows_panel(app.access, message.place, panel)
    )
    why = await _why_not_pick(app, message)
    pick = "Pick one with `/council panel NAME`, or for one question with `panel:NAME` before it."
    note = Note(why or pick)
    others = [name for name, _ in rows if name in app.panels and name != current]
    buttons = [command_button(f"Use {name}", f'panel "{name}"') for name in others[:MAX_LISTED]]
    row = (Buttons(tuple(buttons)),) if buttons and chat.is_room and not why else ()
    await chat.send_ephemeral(
        message, Post((Heading("Panels"), Table(("Panel", "Models"), rows), note, *row), "Panels")
    )


async def _why_not_pick(app: AppContext, message: IncomingMessage) -> str:
    """Return why somebody may not pick the panel of a channel; "" if they may."""
    if may_administer(app.access, message):
        return ""
    if app.access.rules_in(message.place).panel:
        return f"This channel's panel is set in council.toml. {_ONE_QUESTION}"
    change = (await load_changes(app.key_values, channel_key(message.place))).get(PANEL)
    is_chosen = change is not None and change.value not in {"", USUAL}
    if is_chosen and not message.asker.manages_channel:
        return f"An admin chose this channel's panel, so only admins can change it. {_ONE_QUESTION}"
    return ""


def _seats(panel: Panel) -> str:
    names = seat_names(panel)
    return ", ".join(names[seat.key] for seat in panel.members)


async def show_rounds(app: AppContext, chat: Chat, message: IncomingMessage, limit: str) -> None:
    """List the newest rounds."""
    lines = await app.store.list_summaries(int(limit or 10), listable_rounds(message))
    if not lines:
        await send_note(chat, message, NO_QUESTIONS)
        return
    if chat.is_room:
        await chat.send_ephemeral(message, list_post("Newest questions", [*map(_list_line, lines)]))
        return
    rows = tuple(
        (
            shorten_to_line(named_question(line), MAX_CELL) or "(forgotten)",
            f"{line.asked_at:%Y-%m-%d %H:%M}",
            round_state(line),
            line.id,
        )
        for line in lines
    )
    table = Table(("Question", "Asked (UTC)", "State", "Round"), rows)
    note = Note("Open one with `/council show ROUND`.")
    await chat.send_ephemeral(message, Post((Heading(count_noun(len(rows), "round")), table, note)))


def _list_line(line: RoundSummary) -> tuple[str, str]:
    question = shorten_to_line(named_question(line), 60) or "(forgotten)"
    return f"{question} · {round_state(line)} · {local_time(line.asked_at)}", f"show {line.id}"


async def show_round(app: AppContext, chat: Chat, message: IncomingMessage, wanted: str) -> None:
    """Show a closed round as it was posted; `last` is the newest.

    Buttons, or where there are none other commands, open the rest.
    """
    round_ = await find_round_or_last(app, message, wanted)
    if round_.stage is not Stage.CLOSED and not round_.forgotten:
        line = "This round is not finished yet. Its answer will appear where you asked."
        await send_note(chat, message, line)
        return
    await check_revealed(app, round_)
    post = round_post(round_) if chat.is_room else brief_post(round_, is_titled=True)
    post = add_votes(post, round_, await app.store.votes(round_.id))
    await chat.send_ephemeral(message, with_names(post, round_))


async def find_round_or_last(app: AppContext, message: IncomingMessage, wanted: str) -> Round:
    """Load a readable round by the start of its id, or the newest for `last` or "".

    That is the newest of the thread, else of the channel, else of all that may be read.
    """
    if wanted.lower() not in {"", LAST}:
        return await find_round(app, message, wanted)
    readable, place = listable_rounds(message), message.place
    here: Sequence[RoundSummary] = ()
    if readable.here:
        only_here = replace(readable, only_here=True)
        here = await app.store.list_summaries(MAX_THREAD_ROUNDS, only_here)
    if place.thread:
        in_thread = [line for line in here if line.place.thread == place.thread]
        if not in_thread and (root := await find_round_of_message(app, place, place.thread)):
            return await load_readable_round(app, message, root.id)
        here = [*in_thread, *here]
    newest = here or await app.store.list_summaries(1, readable)
    if not newest:
        raise RoundNotFoundError(NO_QUESTIONS)
    return await app.store.load(newest[0].id)


# --- The command cancel


NOTHING_RUNNING = "You have nothing running."


async def cancel_round(app: AppContext, chat: Chat, message: IncomingMessage, wanted: str) -> None:
    """Cancel a round of one's own, or any as an admin; `last` is one's newest unfinished.

    Without an id, cancel the only one that is running, or ask which.
    """
    if not wanted:
        running = await app.store.list_summaries(wanted=_running_rounds(message))
        if len(running) > 1:
            await chat.send_ephemeral(message, _which_to_cancel(running, is_room=chat.is_room))
            return
        wanted = running[0].id if running else LAST
    round_ = await find_round_to_cancel(app, message, wanted)
    await send_note(chat, message, why_not_cancellable(round_) or await cancel(app, round_))


def _which_to_cancel(running: Sequence[RoundSummary], *, is_room: bool) -> Post:
    line = f"You have {count_noun(len(running), 'round')} running. Which one should stop?"
    if is_room:
        buttons = [Button("cancel", shorten_to_line(one.question, 60), one.id) for one in running]
        return Post((Line(line), Buttons(tuple(buttons))), line)
    lines = (Line(f"`cancel {one.id}`: {shorten_to_line(one.question, 60)}") for one in running)
    return Post((Line(line), *lines), line)


async def find_round_to_cancel(app: AppContext, message: IncomingMessage, wanted: str) -> Round:
    """Load the round to cancel; raise NotYoursError unless this person may cancel it."""
    round_ = await _find_own(app, message, wanted, _running_rounds(message), NOTHING_RUNNING)
    check_own_round(app.access, round_, message.asker, "cancel a round")
    return round_


async def _find_own(
    app: AppContext, message: IncomingMessage, wanted: str, own: RoundQuery, if_none: str
) -> Round:
    if wanted.lower() not in {"", LAST}:
        return await find_round(app, message, wanted)
    newest = await app.store.list_summaries(1, own)
    if not newest:
        raise RoundNotFoundError(if_none)
    return await app.store.load(newest[0].id)


def own_rounds(message: IncomingMessage) -> RoundQuery:
    """Return a query for the rounds of a message's author that may be read here."""
    return replace(listable_rounds(message), asked_by=message.asker.id, remembered=True)


def _running_rounds(message: IncomingMessage) -> RoundQuery:
    return replace(own_rounds(message), unfinished=True)


def why_not_cancellable(round_: Round) -> str:
    """Return why a round cannot be cancelled; "" if it can."""
    if round_.forgotten:
        return forgotten_line(round_.forgotten)
    if round_.closing:
        return f"{_quoted(round_)} has already finished. Its answer is where you asked."
    return ""


async def cancel(app: AppContext, round_: Round) -> str:
    """Stop a round, so that nobody else is asked; return the result as a sentence."""
    # First, so that a restart does not resume it should this process end now.
    await app.store.pause(round_.id, paused=True)
    await app.runner.stop(round_.id)
    now = await app.store.load(round_.id)
    if why := why_not_cancellable(now):  # it came to its end meanwhile
        await app.store.pause(round_.id, paused=False)
        return why
    return (
        f"{_quoted(round_)} is cancelled. {answers_kept(now)}. No more models are asked, and "
        "nothing more is spent."
    )


def _quoted(round_: Round) -> str:
    return f"“{shorten_to_line(round_.question.text, 60)}”"


def answers_kept(round_: Round) -> str:
    """Return how many answers stay: "2 of 3 answers are saved"."""
    members = count_noun(len(round_.panel.members), "answer")
    are = "is" if len(round_.answers) == 1 else "are"
    return f"{len(round_.answers)} of {members} {are} saved"


# --- The command forget: delete the texts of a round, but not its ranking


class UnderWayError(CouncilError):
    """A running round cannot be forgotten."""


async def find_round_to_forget(app: AppContext, message: IncomingMessage, wanted: str) -> Round:
    """Load a round of one's own, or any as an admin; `last` is one's newest.

    Raise UnderWayError while it runs.
    """
    if_none = "None of your rounds can be found here."
    round_ = await _find_own(app, message, wanted, own_rounds(message), if_none)
    await check_forgettable(app, message, round_)
    return round_


async def check_forgettable(app: AppContext, message: IncomingMessage, round_: Round) -> None:
    """Raise NotYoursError unless this person may forget the round, UnderWayError while it runs."""
    check_own_round(app.access, round_, message.asker, "forget a round")
    if await app.runner.is_running(round_.id):
        raise UnderWayError("This round is still running. Cancel it first, then forget it.")


async def describe_quoting(store: Store, round_: Round, *, is_forgotten: bool = False) -> str:
    """Return a sentence on the rounds of others that lose what they quote of a round, or "".

    It speaks of what will happen, or of what did if the round `is_forgotten`.
    """
    own = round_.question.asked_by
    others = sum(asked_by != own for asked_by in await store.list_quoting(round_.id))
    if not others:
        return ""
    follow, quote = ("follow", "quote") if others > 1 else ("follows", "quotes")
    repeat = "repeat" if others > 1 else "repeats"
    is_deleted = "was deleted" if is_forgotten else "is deleted"
    return (
        f"{count_noun(others, 'round')} of other people {follow} up this one or {repeat} it. What "
        f"{'they' if others > 1 else 'it'} {quote} of it {is_deleted} too."
    )


async def forget_and_wipe(store: Store, round_: Round, moment: datetime) -> str:
    """Delete the texts of a round, wipe them from the database file, and return what to reply."""
    others = await describe_quoting(store, round_, is_forgotten=True)
    is_new = await store.forget(round_.id, moment, new_salt())
    try:
        await store.wipe()
    except StoreError as error:
        raise StoreError(
            f"Round {round_.id} is forgotten, but its texts are not wiped from the "
            f"disk yet: {error}"
        ) from error
    if not is_new:
        return "It was already forgotten; none of its texts are left."
    texts = count_noun(len(removable_texts(round_)), "text")
    return (
        f"Forgotten: {texts} deleted. Its models, rankings, result and cost stay. {others}"
    ).rstrip()


# --- Feedback on a round

MAX_COMMENT_CHARACTERS = 1_000


class FeedbackError(CouncilError):
    """The feedback or vote is not possible."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """Whether a round helped, and why; the reason may be empty."""

    helpful: bool
    reason: str = ""


async def save_feedback(app: AppContext, round_: Round, by: str, opinion: Opinion) -> None:
    """Store somebody's feedback on a closed round, replacing any earlier one."""
    reason = clean_text(opinion.reason)
    if not round_.closing:
        raise FeedbackError(f"Round {round_.id} is not finished yet. Wait for its answer.")
    if len(reason) > MAX_COMMENT_CHARACTERS:
        raise FeedbackError(
            f"The reason has {len(reason):,} characters; the limit is {MAX_COMMENT_CHARACTERS:,}. "
            "Shorten it."
        )
    await app.store.rate(Feedback(round_.id, by, opinion.helpful, reason, app.now()))


async def own_feedback(app: AppContext, round_id: str, by: str) -> Feedback | None:
    """Return somebody's feedback on a round, else None."""
    ratings = await app.store.ratings(round_id)
    return next((feedback for feedback in ratings if feedback.by == by), None)


# --- The command budget


async def show_budget(app: AppContext, chat: Chat, message: IncomingMessage, _: Arguments) -> None:
    """Show the budgets of the asker, of the place, and of everybody."""
    today = app.now().astimezone(UTC).date()
    account = Account("", today, payer(message.asker.id), channel_account(message.place))
    used = await app.budget.ledger.usage(account)
    await chat.send_ephemeral(message, budget_post(await app.budget.caps_of(account), used))


async def change_nothing(
    app: AppContext, chat: Chat, message: IncomingMessage, _: Arguments
) -> None:
    """Answer a "no" to a question whether something should be deleted."""
    await send_note(chat, message, "Nothing was changed.")
