"""What the buttons of bake-offs do, in every chat: each press is authorised again."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bot.access import admitted, check_own, check_own_bakeoff, check_readable
from bot.bakeoffs.lifecycle import standing
from bot.chat import Button, Buttons, Chat, File, IncomingMessage, Line, Note, Post
from bot.commands.ask import AskOptions, asked, proposed
from bot.commands.bakeoffs import BakeoffArguments as _bakeoff_presses_Words
from bot.commands.bakeoffs import Proposal, bakeoff_of, cancel, find_bakeoff, resume, start
from bot.commands.round_delivery import deliver_round, send_file
from bot.commands.rounds import Opinion, kept, over, rate, to_cancel
from bot.commands.rounds import cancel as _pressing_cancel
from bot.commands.suites import SuiteAddition, check_own_people, join, keep, run_of
from bot.commands.suites import leave as _pressing_leave
from bot.context import AppContext, usual_seconds
from bot.render.bakeoffs import CANCEL, RESUME, START
from bot.render.bakeoffs import LEAVE as LEAVE_IT
from bot.render.bakeoffs import START as BEGIN
from bot.render.formatting import counted, file_name
from bot.render.round_json import document
from bot.render.round_report import answer_posts, ballots_post, forgotten_line
from bot.render.round_status import terms_of
from bot.render.suites import KEEP, LEAVE, grown_post
from council.budget import estimated
from council.errors import CouncilError
from council.rounds import Round, Stage

# --- What the buttons of bake-offs do, in every chat: each press is authorised again.

LEFT = "Nothing was begun, and nothing is spent."


async def begin(app: AppContext, chat: Chat, said: IncomingMessage, value: str) -> None:
    """Begin what was proposed, for the one who presses, where they may."""
    admitted(app.access, said)
    check_own_people(said)
    await start(app, chat, said, await bakeoff_of(app, said, Proposal.read(value)))


async def leave(app: AppContext, chat: Chat, said: IncomingMessage, value: str) -> None:
    """Leave a proposal."""
    await chat.send_ephemeral(said, Post((Note(LEFT),), LEFT))


async def cancel_by_button(
    app: AppContext, chat: Chat, said: IncomingMessage, bakeoff_id: str
) -> None:
    """Cancel the bake-off that a button is under."""
    await cancel(app, chat, said, _bakeoff_presses_Words("cancel", bakeoff_id))


async def go_on_by_button(
    app: AppContext, chat: Chat, said: IncomingMessage, bakeoff_id: str
) -> None:
    """Go on with the bake-off that a button is under."""
    admitted(app.access, said)
    await resume(app, chat, said, _bakeoff_presses_Words("resume", bakeoff_id))


# --- Presses count once: what is being done for somebody is not done beside itself.

BUSY = "That is under way already."
PRESS = "press"  # the kind of memo
MOST_REMEMBERED = 1_000
# In a cluster, how long after a press another process takes the same one for the same.
PRESS_SECONDS = 10.0


class ActionDeduplicator:
    """Remembers what is being done, by whatever tells one press from any other."""

    def __init__(self, app: AppContext) -> None:
        self._app = app
        self._doing: set[tuple[str, ...]] = set()

    async def do(
        self, does: tuple[str, ...], act: Callable[[], Awaitable[None]], *, everywhere: bool
    ) -> bool:
        """Do what a press says, unless it is being done; say whether it was done.

        What is done once `everywhere` is not done by any other process of a cluster right after.
        """
        if does in self._doing:
            return False
        self._doing.add(does)
        try:
            if everywhere and not await self._is_first(does):
                return False
            await act()
        finally:
            self._doing.discard(does)
        return True

    async def _is_first(self, does: tuple[str, ...]) -> bool:
        if self._app.job_queue is None:
            return True
        return await self._app.key_values.once(PRESS, " ".join(does), PRESS_SECONDS)


async def tell_busy(chat: Chat, said: IncomingMessage) -> None:
    """Tell who pressed twice that once is enough."""
    await chat.send_ephemeral(said, Post((Note(BUSY),), BUSY))


# --- What buttons do, in every chat: each press is authorised again.

THANKS = "Noted, thank you."
OTHER_VERSION = (
    "This comes from another version of the council, as while a new one is being installed: try "
    "it again in a few minutes."
)


async def readable_round(app: AppContext, said: IncomingMessage, round_id: str) -> Round:
    """Give a round, if the one who presses may read it where they do."""
    round_ = await app.store.load(round_id)
    check_readable(round_, said)
    return round_


def posts_of(round_: Round, what: str) -> list[Post]:
    """Give the answers or the ballots of a round; CouncilError where there are none to show."""
    if round_.draw is None:
        raise CouncilError("There is nothing to show yet: no answer has been ranked.")
    if round_.forgotten and what == "answers":
        raise CouncilError("What was answered in this round is forgotten.")
    if what == "ballots":
        return [ballots_post(round_, round_.draw)]
    return list(answer_posts(round_, round_.draw))


async def ask_again(app: AppContext, chat: Chat, said: IncomingMessage, round_id: str) -> None:
    """Put a round's question to its panel once more, as the presser's own."""
    again, choice = await anew(app, said, round_id)
    await asked(app, chat, again, choice)


async def anew(
    app: AppContext, said: IncomingMessage, round_id: str
) -> tuple[IncomingMessage, AskOptions]:
    """Give what the presser says when a round's question is put to its panel once more."""
    round_ = await readable_round(app, said, round_id)
    _check_remembered(round_)
    before = round_.question
    here = (before.place.workspace, before.place.channel) == (
        said.place.workspace,
        said.place.channel,
    )
    place = before.place if here else replace(said.place, thread=None)
    again = replace(said, text=before.text, context=before.context, place=place)
    return again, AskOptions(round_.panel.name, round_.panel.terms.method)


def _check_remembered(round_: Round) -> None:
    if round_.forgotten:
        raise CouncilError(forgotten_line(round_.forgotten))


async def go_on(app: AppContext, chat: Chat, said: IncomingMessage, round_id: str) -> None:
    """Go on with a round that was cancelled, or stopped by a fault."""
    round_ = await readable_round(app, said, round_id)
    check_own(app.access, round_, said.asker, "go on with a round")
    _check_remembered(round_)
    if round_.closing or await app.runner.is_running(round_id):
        raise CouncilError(f"Round {round_id} is not stopped: there is nothing to go on with.")
    await app.reopen(round_)
    with app.keeping_admitted(round_):
        await deliver_round(app, chat, said, round_)


async def export(app: AppContext, chat: Chat, said: IncomingMessage, round_id: str) -> None:
    """Put a round as JSON in its own thread, once: who may read the one may read the other."""
    round_ = await readable_round(app, said, round_id)
    if round_.stage is not Stage.CLOSED:
        raise CouncilError(f"Round {round_id} is still at stage {round_.stage.value}.")
    if not chat.keeps_files:
        raise CouncilError("I may not post files here: ask an admin to grant that.")
    root = await app.outbox.root(round_id, round_.question.place)
    if root is None:
        raise CouncilError(f"The thread of round {round_id} is not there to put a file in.")
    place = replace(root.place, thread=root.place.thread or root.message)
    text = json.dumps(document(round_), ensure_ascii=False, indent=2)
    await send_file(app, chat, round_, place, File(file_name(round_id, "json"), text))
    line = "The round is in its thread, as JSON: everything that was stored of it."
    await chat.send_ephemeral(said, Post((Note(line),), line))


async def opine(
    app: AppContext, chat: Chat, said: IncomingMessage, round_id: str, opinion: Opinion
) -> None:
    """Keep whether a round helped somebody."""
    await rate(app, await readable_round(app, said, round_id), said.asker.id, opinion)
    await chat.send_ephemeral(said, Post((Note(THANKS),), THANKS))


def check_may_add(app: AppContext, said: IncomingMessage) -> None:
    """Raise NotAdmittedError unless this person may add to suites here."""
    admitted(app.access, said)
    check_own_people(said)


async def add_to_suite(
    app: AppContext, chat: Chat, said: IncomingMessage, round_id: str, joining: SuiteAddition
) -> None:
    """Keep a round's question in a suite, for somebody who may read it and ask here."""
    check_may_add(app, said)
    made = await join(app, said, await readable_round(app, said, round_id), joining)
    await chat.send_ephemeral(said, grown_post(made, await run_of(app, said.place, made)))


PROPOSED = {KEEP, LEAVE, BEGIN, LEAVE_IT}  # once pressed, what was proposed is proposed no more
PRESSES = {
    "again": ask_again,
    "cancel": _pressing_cancel,
    "resume": go_on,
    "export": export,
    BEGIN: begin,
    LEAVE_IT: leave,
    CANCEL: cancel_by_button,
    RESUME: go_on_by_button,
    KEEP: keep,
    LEAVE: _pressing_leave,
}


# --- What is asked back before a press costs money or ends something.

YES, NO = "yes_", "no_"  # before the action that was asked about


@dataclass(frozen=True, slots=True)
class ConfirmLabels:
    """What stands on the two buttons of a question, and what stands in its place once pressed."""

    yes: str
    no: str
    then: str
    else_: str


WORDS = {
    "again": ConfirmLabels("Yes, run again", "No", "Running again …", "Nothing was asked."),
    "cancel": ConfirmLabels("Yes, cancel it", "No", "Cancelling …", "The round goes on."),
    CANCEL: ConfirmLabels("Yes, cancel it", "No", "Cancelling …", "The bake-off goes on."),
}
TAKEN_UP = {START: "Beginning …"}  # what stands in place of a proposal that was taken up


def is_asked_about(action: str) -> bool:
    """Say whether a press is answered by a question first."""
    return action in WORDS


def confirmed(action: str) -> str:
    """Give what somebody says yes to; "" for a press that is no yes."""
    wanted = action.removeprefix(YES)
    return wanted if wanted != action and wanted in WORDS else ""


def in_its_place(action: str) -> Post | None:
    """Give what replaces a question or proposal that was answered; None for any other press."""
    for wanted, words in WORDS.items():
        told = {f"{YES}{wanted}": words.then, f"{NO}{wanted}": words.else_}
        if action in told:
            return Post((Note(told[action]),), told[action])
    if action in TAKEN_UP:
        return Post((Note(TAKEN_UP[action]),), TAKEN_UP[action])
    return None


async def asked_back(app: AppContext, said: IncomingMessage, action: str, round_id: str) -> Post:
    """Give the question to answer first: what it will cost, or what is kept.

    Raises CouncilError where the press would come to nothing.
    """
    line, note = await _QUESTIONS[action](app, said, round_id)
    if not note:
        return Post((Note(line),), line)
    words = WORDS[action]
    yes = Button(f"{YES}{action}", words.yes, round_id)
    no = Button(f"{NO}{action}", words.no, round_id)
    return Post((Line(line), Note(note), Buttons((yes, no))), f"{line} {note}")


async def _again(app: AppContext, said: IncomingMessage, round_id: str) -> tuple[str, str]:
    again, choice = await anew(app, said, round_id)
    round_ = proposed(app, again, again.text, choice)
    usual = await usual_seconds(app.store, round_.panel.name)
    terms = terms_of(round_, await estimated(round_, app.gateway), usual)
    return "Run again? The whole council is asked once more.", terms


async def _cancel(app: AppContext, said: IncomingMessage, round_id: str) -> tuple[str, str]:
    round_ = await to_cancel(app, said, round_id)
    if why := over(round_):
        return why, ""
    note = f"{kept(round_)}; nobody else is asked, and nothing more spent. It can go on later."
    return f"Cancel round {round_.id}?", note


async def _cancel_bakeoff(
    app: AppContext, said: IncomingMessage, bakeoff_id: str
) -> tuple[str, str]:
    bakeoff = await find_bakeoff(app, said, bakeoff_id)
    check_own_bakeoff(app.access, bakeoff, said.asker, "cancel a bake-off")
    if bakeoff.ending:
        return f"Bake-off {bakeoff.id} is over already.", ""
    progress = await standing(app, bakeoff)
    note = (
        f"{progress.over} of {counted(progress.questions, 'question')} are over and kept; nobody "
        "else is asked, and nothing more spent. It can go on later."
    )
    return f"Cancel bake-off {bakeoff.id}?", note


_QUESTIONS: dict[str, Callable[[AppContext, IncomingMessage, str], Awaitable[tuple[str, str]]]] = {
    "again": _again,
    "cancel": _cancel,
    CANCEL: _cancel_bakeoff,
}
