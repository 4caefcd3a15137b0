"""Which round somebody means, among those they may read."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.access import allows, check_own, check_readable, listable, readable_rounds
from bot.chat import Chat, Heading, IncomingMessage, Note, Post, SentMessage, Table
from bot.chat.incoming import cleaned
from bot.context import AppContext
from bot.render.budgets import budget_post
from bot.render.formatting import authors_of, counted, listed, names_of
from bot.render.round_report import forgotten_line, report, state_of
from bot.render.round_status import receivers
from bot.render.text_safety import in_one_line
from council.budget_caps import Account, channel_of
from council.errors import CouncilError, RoundNotFoundError, StoreError
from council.feedback import Feedback, HumanVote
from council.integrity.erasure import texts_of
from council.places import Place
from council.ports import EVERY, RoundQuery, Store
from council.rounds import Draw, Round, Stage
from storage.hash_chain import new_salt

# --- Which round somebody means, among those they may read.

LAST = "last"


async def find_round(app: AppContext, said: IncomingMessage, wanted: str) -> Round:
    """Give the round whose id starts so; RoundNotFoundError unless it may be read here."""
    try:
        round_ = await app.store.load(await app.store.find(wanted))
        check_readable(round_, said)
    except RoundNotFoundError:
        if readable_rounds(said) == EVERY:
            raise
        # The start of an id must not tell of rounds of others, least of all the whole id.
        raise RoundNotFoundError(
            f"There is no round {wanted!r} here: `/council rounds` lists those there are."
        ) from None
    return round_


# --- A question that follows a round: what it refers to is that round, and those after it.

MOST_CHARACTERS = 12_000
MOST_ROUNDS = 50  # of a channel, among which a thread's are looked for


async def rounds_of_thread(app: AppContext, place: Place, asked: str = "") -> tuple[Round, ...]:
    """Give the rounds of the thread that one began, oldest first; none of any other thread.

    The thread's first message shows a round, or asked for the one with the id `asked`.
    """
    first = await _first_round(app, place, asked)
    if first is None:
        return ()
    here = RoundQuery(
        chats=(place.chat,), workspace=place.workspace, here=place, only_here=True, bakeoff=""
    )
    lines = await app.store.recent(MOST_ROUNDS, here)
    later = [x.id for x in reversed(lines) if x.place.thread == place.thread and x.id != first.id]
    return (first, *[await app.store.load(round_id) for round_id in later])


async def _first_round(app: AppContext, place: Place, asked: str) -> Round | None:
    try:
        return await round_at(app, place, place.thread or "") or await app.store.load(asked)
    except RoundNotFoundError:
        return None


async def round_at(app: AppContext, place: Place, message: str) -> Round | None:
    """Give the round whose first message this is; None for one that shows no single round."""
    round_id = await app.outbox.root_of(SentMessage(place, message))
    with suppress(RoundNotFoundError):  # a bake-off's message
        return await app.store.load(round_id) if round_id else None
    return None


def context_of(rounds: Sequence[Round]) -> str:
    """Give rounds as what a question that follows them refers to, the newest kept whole."""
    return "\n\n".join(newest([_told(round_) for round_ in rounds if not round_.forgotten]))


def _told(round_: Round) -> str:
    answer = round_.synthesis.text if round_.synthesis else "(none yet)"
    return f"The question before: {round_.question.text}\n\nThe council's answer to it: {answer}"


def newest(lines: list[str]) -> list[str]:
    """Give as many of the last lines as can be sent along."""
    kept: list[str] = []
    left = MOST_CHARACTERS
    for line in reversed(lines):
        left -= len(line) + 2
        if left < 0 and kept:
            break
        kept.insert(0, line[:MOST_CHARACTERS])
    return kept


# --- The commands that show: help, panel, rounds, show.

SHOWN_ROUNDS = 10
QUESTION_LENGTH = 60


async def show_panel(app: AppContext, chat: Chat, said: IncomingMessage, name: str) -> None:
    """List the panels, or pick one for this place."""
    if name:
        panel = app.panel(name, said.place)
        await app.pick(name, said.place)
        seats = names_of(panel)
        seated = tuple((seats[seat.key], seat.key, seat.family) for seat in panel.judges)
        note = Note(f"Questions here go to panel {name} now, that is to {receivers(panel)}.")
        table = Table(("Seat", "Key", "Family"), seated)
        await chat.send_ephemeral(said, Post((Heading(f"Panel {name}"), table, note)))
        return
    current = app.panel_name(said.place)
    rows = tuple(
        (f"{panel.name}{' (in use)' if panel.name == current else ''}", _seats(panel.name, app))
        for panel in app.panels.values()
        if allows(app.access, said.place, panel)
    )
    note = Note("`/council panel NAME` picks one; `panel:NAME` before a question, for that one.")
    await chat.send_ephemeral(
        said, Post((Heading("Panels"), Table(("Panel", "Members"), rows), note))
    )


def _seats(name: str, app: AppContext) -> str:
    names = names_of(app.panels[name])
    return ", ".join(names[seat.key] for seat in app.panels[name].members)


async def show_rounds(app: AppContext, chat: Chat, said: IncomingMessage, limit: str) -> None:
    """List the newest rounds."""
    wanted = listable(said)
    lines = await app.store.recent(int(limit) if limit else SHOWN_ROUNDS, wanted)
    if not lines:
        await chat.send_ephemeral(said, Post((Note("No round has been held yet."),)))
        return
    rows = tuple(
        (
            line.id,
            f"{line.asked_at:%Y-%m-%d %H:%M}",
            state_of(line),
            in_one_line(line.question, QUESTION_LENGTH),
        )
        for line in lines
    )
    table = Table(("Round", "Asked (UTC)", "Stage", "Question"), rows)
    note = Note("`/council show ROUND` opens one.")
    await chat.send_ephemeral(said, Post((Heading(counted(len(rows), "round")), table, note)))


async def show_round(app: AppContext, chat: Chat, said: IncomingMessage, wanted: str) -> None:
    """Show a stored round as it was posted; `last` is the newest.

    In a room the buttons under the answer open the rest.
    """
    round_ = await meant_or_last(app, said, wanted)
    if round_.stage is not Stage.CLOSED and not round_.forgotten:
        line = f"Round {round_.id} is still at stage {round_.stage.value}."
        await chat.send_ephemeral(said, Post((Note(line),)))
        return
    thread = report(round_)
    for post in (thread.root, *(() if chat.is_room else thread.replies)):
        await chat.send_ephemeral(said, post)


async def meant_or_last(app: AppContext, said: IncomingMessage, wanted: str) -> Round:
    """Give the round that is meant, the newest for `last`, if it may be read here."""
    if wanted.lower() != LAST:
        return await find_round(app, said, wanted)
    newest = await app.store.recent(1, listable(said))
    if not newest:
        raise RoundNotFoundError("No round has been held yet.")
    return await app.store.load(newest[0].id)


# --- The command that cancels: nothing more is spent on a round, what there is stays.


async def cancel(app: AppContext, chat: Chat, said: IncomingMessage, wanted: str) -> None:
    """Cancel a round for the one who asked, or an admin; `last` is one's own newest unfinished."""
    round_ = await to_cancel(app, said, wanted)
    line = over(round_) or await _cancelled(app, round_)
    await chat.send_ephemeral(said, Post((Note(line),), line))


async def to_cancel(app: AppContext, said: IncomingMessage, wanted: str) -> Round:
    """Give the round that is meant; NotYoursError for one that somebody else has to cancel."""
    round_ = await _meant(app, said, wanted)
    check_own(app.access, round_, said.asker, "cancel a round")
    return round_


async def _meant(app: AppContext, said: IncomingMessage, wanted: str) -> Round:
    if wanted.lower() != LAST:
        return await find_round(app, said, wanted)
    own = replace(listable(said), asked_by=said.asker.id, unfinished=True)
    newest = await app.store.recent(1, own)
    if not newest:
        raise RoundNotFoundError("No round of yours is under way here.")
    return await app.store.load(newest[0].id)


def over(round_: Round) -> str:
    """Say why there is nothing to cancel; nothing where there is."""
    if round_.forgotten:
        return forgotten_line(round_.forgotten)
    if round_.closing:
        return f"Round {round_.id} is closed already: `/council show {round_.id}` opens it."
    return ""


async def _cancelled(app: AppContext, round_: Round) -> str:
    """Cancel a round that is not over, and say what is kept of it."""
    was_cancelled = (await app.store.line(round_.id)).paused
    # First, so that it is not gone on with should this process end now.
    await app.store.pause(round_.id, paused=True)
    await app.runner.stop(round_.id)
    now = await app.store.load(round_.id)
    if why := over(now):  # it came to its end meanwhile
        await app.store.pause(round_.id, paused=False)
        return why
    if was_cancelled:
        return f"Round {round_.id} was cancelled before: {kept(now)}."
    return (
        f"Round {round_.id} is cancelled: {kept(now)}. Nobody is asked any more, and nothing spent."
    )


def kept(round_: Round) -> str:
    """Say what there is of a round, which stays: "2 of 3 answers are kept"."""
    members = counted(len(round_.panel.members), "answer")
    are = "is" if len(round_.answers) == 1 else "are"
    return f"{len(round_.answers)} of {members} {are} kept"


# --- The command that forgets: what was said in a round goes, how it was judged stays.


class UnderWayError(CouncilError):
    """A round that is not at its end cannot be forgotten."""


async def forget(app: AppContext, chat: Chat, said: IncomingMessage, wanted: str) -> None:
    """Forget a round for the one who asked, or an admin; one under way has to be stopped first."""
    round_ = await find_round(app, said, wanted)
    check_own(app.access, round_, said.asker, "have a round forgotten")
    if await app.runner.is_running(round_.id):
        raise UnderWayError(f"Round {round_.id} is under way: stop it first, then forget it.")
    line = await forgotten(app.store, round_, app.now())
    await chat.send_ephemeral(said, Post((Note(line),), line))


async def forgotten(store: Store, round_: Round, moment: datetime) -> str:
    """Forget a round, leave nothing of it in the files, and say what was done."""
    is_new = await store.forget(round_.id, moment, new_salt())
    try:
        await store.wipe()
    except StoreError as error:
        raise StoreError(f"Round {round_.id} is forgotten, but not yet wiped: {error}") from error
    if not is_new:
        return f"Round {round_.id} was forgotten before; nothing is left to forget."
    texts = counted(len(texts_of(round_)), "text")
    return (
        f"Round {round_.id} is forgotten: {texts} removed; who sat, rankings, standings, cost and "
        "a digest of each text are kept."
    )


# --- What people think of a round, said with a button.

MAX_COMMENT_CHARACTERS = 1_000


class FeedbackError(CouncilError):
    """What cannot be said of a round."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """Whether a round helped, and why; the reason may be empty."""

    helpful: bool
    reason: str = ""


async def rate(app: AppContext, round_: Round, by: str, opinion: Opinion) -> None:
    """Keep what somebody thinks of a closed round, in place of what they thought before."""
    reason = cleaned(opinion.reason)
    if not round_.closing:
        raise FeedbackError(f"Round {round_.id} is not closed yet: wait for its answer.")
    if len(reason) > MAX_COMMENT_CHARACTERS:
        raise FeedbackError(
            f"The reason has {len(reason):,} characters and at most "
            f"{MAX_COMMENT_CHARACTERS:,} are kept: shorten it."
        )
    await app.store.rate(Feedback(round_.id, by, opinion.helpful, reason, app.now()))


async def own_feedback(app: AppContext, round_id: str, by: str) -> Feedback | None:
    """Give what somebody has said of a round; None where they said nothing."""
    said = await app.store.ratings(round_id)
    return next((feedback for feedback in said if feedback.by == by), None)


# --- The command that votes: which answer of a round somebody calls the best, names in sight.

SEEN = "You have seen who wrote what, so this vote is not blind."


async def vote(app: AppContext, chat: Chat, said: IncomingMessage, words: str) -> None:
    """Keep `ROUND LABEL`: the answer that somebody who may read a round calls its best."""
    wanted, *_, letter = words.split()
    round_ = await meant_or_last(app, said, wanted)
    cast = await cast_vote(app, round_, said.asker.id, letter)
    line = voted_line(round_, cast)
    await chat.send_ephemeral(said, Post((Note(line),), line))


async def cast_vote(app: AppContext, round_: Round, by: str, letter: str) -> HumanVote:
    """Keep somebody's vote on a closed round, in place of one they gave before.

    Raises FeedbackError where there is nothing to choose from, or no such answer.
    """
    draw = _draw_of(round_)
    label = next((one for one in draw.labels.labels if one == letter.upper()), None)
    if label is None:
        raise FeedbackError(
            f"Round {round_.id} has no Response {letter.upper()[:20]}: choose among "
            f"{listed(sorted(draw.labels.labels))}."
        )
    cast = HumanVote(round_.id, by, label, draw.labels.author_of(label), app.now())
    await app.store.vote(cast)
    return cast


def _draw_of(round_: Round) -> Draw:
    if round_.forgotten:
        raise FeedbackError(f"What was answered in round {round_.id} is forgotten.")
    if not round_.closing:
        raise FeedbackError(f"Round {round_.id} is not closed yet: wait for its answer.")
    if round_.draw is None or len(round_.draw.labels.labels) < 2:  # noqa: PLR2004
        raise FeedbackError(f"Round {round_.id} has no two answers to choose from.")
    return round_.draw


def voted_line(round_: Round, cast: HumanVote) -> str:
    """Say what was noted."""
    author = authors_of(round_.panel, _draw_of(round_))[cast.label]
    return f"Noted: Response {cast.label}, by {author}, is the best to you. {SEEN}"


async def own_vote(app: AppContext, round_id: str, by: str) -> HumanVote | None:
    """Give what somebody has voted on a round; None where they did not."""
    cast = await app.store.votes(round_id)
    return next((one for one in cast if one.by == by), None)


# --- The command that shows what is spent and what is left.


async def show_budget(app: AppContext, chat: Chat, said: IncomingMessage, _: str) -> None:
    """Show the budgets of whoever asks, of the place, and of everybody."""
    today = app.now().astimezone(UTC).date()
    account = Account("", today, said.asker.id, channel_of(said.place))
    used = await app.budget.ledger.used(account)
    await chat.send_ephemeral(said, budget_post(app.budget.caps.under(account), used))
