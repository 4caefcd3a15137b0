"""Button handlers of every chat; each press checks permissions again."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bot.access import (
    AccessDeniedError,
    check_admin,
    check_admitted,
    check_own_round,
)
from bot.admission import dismissed_at_end, readmit_round
from bot.bakeoffs.commands import bakeoffs, suites
from bot.bakeoffs.commands.reports import SHARE, share_report
from bot.bakeoffs.lifecycle import load_progress
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.bakeoffs import CANCEL, RESUME, START
from bot.bakeoffs.render.bakeoffs import LEAVE as DECLINE
from bot.bakeoffs.render.suites import KEEP, question_added_post
from bot.bakeoffs.render.suites import LEAVE as DECLINE_SUITE
from bot.chat import Button, Buttons, Chat, File, IncomingMessage, Line, Note, Post, send_note
from bot.commands import rounds
from bot.commands.ask import ASK_ANYWAY, AskOptions, ask_anyway, ask_with_options, new_round
from bot.commands.conversations import NEW_QUESTION, start_conversation
from bot.commands.parameters import Arguments
from bot.commands.retraction import retract_forgotten
from bot.commands.round_delivery import deliver_round
from bot.commands.voting import posts_to_vote
from bot.context import AppContext, usual_seconds
from bot.render.formatting import count_noun, file_name
from bot.render.round_json import round_document
from bot.render.round_report.answers import answers_by_label
from bot.render.round_report.thread import details_posts, forgotten_line, whole_round
from bot.render.round_status import terms_line
from bot.render.text_safety import shorten_to_line
from bot.render.voting import BAKEOFF_VOTE, VOTE
from council.budget import estimate_round
from council.errors import CouncilError
from council.integrity.erasure import check_not_forgotten
from council.rounds import Round, Stage

DECLINED = "Nothing was started, and nothing is spent."


async def start_proposed(app: AppContext, chat: Chat, message: IncomingMessage, value: str) -> None:
    """Start a proposed bake-off."""
    suites.check_may_change(app, message, "start a bake-off")
    await bakeoffs.start_bakeoff(
        app, chat, message, await bakeoffs.proposed_bakeoff(app, message, value)
    )


async def decline_proposal(
    app: AppContext, chat: Chat, message: IncomingMessage, value: str
) -> None:
    """Decline a proposed bake-off."""
    await send_note(chat, message, DECLINED)


# --- Deduplication of presses

BUSY = "That has already started."
PRESS = "press"  # the kind of memo
MAX_REMEMBERED_PRESSES = 1_000
# In a cluster, for how long other processes treat the same press as a duplicate.
PRESS_SECONDS = 10.0


class ActionDeduplicator:
    """Runs an action once while it is running, keyed by what identifies a press."""

    def __init__(self, app: AppContext) -> None:
        self._app = app
        self._running: set[tuple[str, ...]] = set()

    async def do(
        self, key: tuple[str, ...], act: Callable[[], Awaitable[None]], *, everywhere: bool
    ) -> bool:
        """Run an action unless the same one is running; return whether it ran.

        With `everywhere`, other processes of the cluster do not run it within ten seconds either.
        """
        if key in self._running:
            return False
        self._running.add(key)
        try:
            is_elsewhere = everywhere and self._app.job_queue is not None
            if is_elsewhere and not await self._app.key_values.mark_once(
                PRESS, " ".join(key), PRESS_SECONDS
            ):
                return False
            await act()
        finally:
            self._running.discard(key)
        return True


async def send_busy_note(chat: Chat, message: IncomingMessage) -> None:
    """Reply that the action is running already."""
    await send_note(chat, message, BUSY)


# --- Buttons of rounds

FORGET = "forget"  # the action
THANKS = "Noted, thank you."
ROUND = "round"  # a modal with everything of a round
MEMBERS_EXPORT = (
    "Only members of this workspace can export, and only in channels that are not shared with "
    "another organisation."
)
OTHER_VERSION = (
    "This message comes from another version of the council, perhaps because an upgrade is "
    "running. Try again in a few minutes."
)


async def shown_posts(app: AppContext, message: IncomingMessage, what: str, id_: str) -> list[Post]:
    """Return what the presser may see of a round: its answers, rankings, or what to vote on."""
    if what in {VOTE, BAKEOFF_VOTE}:
        return await posts_to_vote(app, message, what, id_)
    return answer_or_ballot_posts(await rounds.load_readable_round(app, message, id_), what)


def answer_or_ballot_posts(round_: Round, what: str) -> list[Post]:
    """Return the answers, the ballots or all of a round as posts; CouncilError without any."""
    if round_.draw is None or not (round_.closing or round_.forgotten):
        raise CouncilError("Nothing to show yet: no answers have been ranked.")
    if round_.forgotten and what != "ballots":
        raise CouncilError("The texts of this round have been forgotten.")
    if what == "ballots":
        return [*details_posts(round_, round_.draw)]
    if what != ROUND:
        return [post for _, post in answers_by_label(round_, round_.draw)]
    whole = whole_round(round_)
    parts = tuple(part for part in whole.root.parts if not isinstance(part, Buttons))
    return [replace(whole.root, parts=parts), *whole.replies]


async def ask_again(app: AppContext, chat: Chat, message: IncomingMessage, round_id: str) -> None:
    """Ask a round's question again, with the presser as its asker."""
    again, choice = await repeat_question(app, message, round_id)
    await ask_with_options(app, chat, again, choice)


async def repeat_question(
    app: AppContext, message: IncomingMessage, round_id: str
) -> tuple[IncomingMessage, AskOptions]:
    """Return the message and options that ask a round's question again."""
    round_ = await rounds.load_readable_round(app, message, round_id)
    _check_remembered(round_)
    before = round_.question
    here = (before.place.workspace, before.place.channel) == (
        message.place.workspace,
        message.place.channel,
    )
    place = before.place if here else replace(message.place, thread=None)
    again = replace(
        message,
        text=before.text,
        context=before.context,
        place=place,
        attached=before.kept_files,
        quotes=rounds.repeated_ids(round_, message.asker.id),
    )
    return again, AskOptions(round_.panel.name, round_.panel.terms.method)


def _check_remembered(round_: Round) -> None:
    if round_.forgotten:
        raise CouncilError(forgotten_line(round_.forgotten))
    check_not_forgotten(round_)


async def resume_round(
    app: AppContext, chat: Chat, message: IncomingMessage, round_id: str
) -> None:
    """Resume a round that was cancelled or failed."""
    check_admitted(app.access, message)
    round_ = await rounds.load_readable_round(app, message, round_id)
    check_own_round(app.access, round_, message.asker, "resume a round")
    _check_remembered(round_)
    if round_.closing or await app.runner.is_running(round_id):
        raise CouncilError("This round is not stopped, so it cannot be resumed.")
    await readmit_round(app, round_)
    with dismissed_at_end(app, round_):
        await deliver_round(app, chat, message, round_)


async def export_round(
    app: AppContext, chat: Chat, message: IncomingMessage, round_id: str
) -> None:
    """Send a round as a JSON file to the presser alone, who must be a member here."""
    check_admitted(app.access, message)
    if message.asker.is_guest or message.is_shared:
        raise AccessDeniedError(MEMBERS_EXPORT)
    round_ = await rounds.load_readable_round(app, message, round_id)
    if round_.stage is not Stage.CLOSED:
        raise CouncilError("This round is not finished. Export it once its answer is there.")
    text = json.dumps(round_document(round_), ensure_ascii=False, indent=2)
    file = File(file_name(round_id, "json"), text)
    await chat.send_ephemeral(message, Post((file,), file.name))


# --- Forget


async def forget_command(
    app: AppContext, chat: Chat, message: IncomingMessage, arguments: Arguments
) -> None:
    """Ask whether to forget a round; with `yes`, forget it."""
    round_ = await rounds.find_round_to_forget(app, message, arguments["round"])
    if "yes" in arguments:
        await forget_round(app, chat, message, round_.id)
    elif chat.is_room:
        await chat.send_ephemeral(message, await confirmation_post(app, message, FORGET, round_.id))
    else:
        line, note = await _confirm_forget(app, message, round_.id)
        how = f"To forget it, type `forget {round_.id} yes`."
        await chat.send_ephemeral(message, Post((Line(line), Note(note), Note(how)), line))


async def forget_round(
    app: AppContext, chat: Chat, message: IncomingMessage, round_id: str
) -> None:
    """Delete the texts of a round, and what was posted of it."""
    round_ = await rounds.find_round_to_forget(app, message, round_id)
    await send_note(chat, message, await rounds.forget_and_wipe(app.store, round_, app.now()))
    await retract_forgotten(app, round_.id)


async def rate_round(
    app: AppContext, chat: Chat, message: IncomingMessage, round_id: str, opinion: rounds.Opinion
) -> None:
    """Store somebody's feedback on a round."""
    await rounds.save_feedback(
        app, await rounds.load_readable_round(app, message, round_id), message.asker.id, opinion
    )
    await send_note(chat, message, THANKS)


async def add_to_suite(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    round_id: str,
    joining: suites.SuiteAddition,
) -> None:
    """Add a round's question to a suite."""
    suites.check_may_change(app, message, suites.ADD)
    round_ = await rounds.load_readable_round(app, message, round_id)
    made = await suites.suite_with_question(app, message, round_, joining)
    await bakeoff_stores(app).suites.save(made, message.asker.id, app.now())
    cost = await suites.estimate_suite_run(app, message.place, made)
    await chat.send_ephemeral(message, question_added_post(made, cost))


# Actions after which the proposal disappears.
PROPOSAL_ACTIONS = {KEEP, DECLINE_SUITE, suites.REMOVE, suites.RETAIN, START, DECLINE, ASK_ANYWAY}
BUTTON_HANDLERS = {
    ASK_ANYWAY: ask_anyway,
    "again": ask_again,
    NEW_QUESTION: start_conversation,
    "cancel": rounds.cancel_round,
    "resume": resume_round,
    "export": export_round,
    FORGET: forget_round,
    START: start_proposed,
    DECLINE: decline_proposal,
    CANCEL: bakeoffs.cancel_bakeoff,
    RESUME: bakeoffs.resume_bakeoff,
    KEEP: suites.keep_suite,
    suites.REMOVE: suites.remove_suite,
    suites.RETAIN: suites.retain_suite,
    DECLINE_SUITE: suites.decline_suite,
    SHARE: share_report,
}


# --- Confirmation before a press costs money or ends something

YES, NO = "yes_", "no_"  # prefixes of the confirmed action


def confirmed_action(action: str) -> str:
    """Return the action that a "yes" button confirms; "" for any other button."""
    wanted = action.removeprefix(YES)
    return wanted if wanted != action and wanted in CONFIRMATIONS else ""


def replacement_post(action: str) -> Post | None:
    """Return the post that replaces an answered question or proposal, else None."""
    texts = {START: "Starting …", ASK_ANYWAY: "Asking …"}
    for wanted, confirmation in CONFIRMATIONS.items():
        texts[f"{YES}{wanted}"] = confirmation.after_yes
        texts[f"{NO}{wanted}"] = confirmation.after_no
    return Post((Note(texts[action]),), texts[action]) if action in texts else None


async def confirmation_post(
    app: AppContext, message: IncomingMessage, action: str, round_id: str
) -> Post:
    """Return the question to confirm, with the cost or what stays, or a note if it is too late.

    Raise CouncilError if the action is not possible.
    """
    confirmation = CONFIRMATIONS[action]
    line, note = await confirmation.ask(app, message, round_id)
    if not note:
        return Post((Note(line),), line)
    yes = Button(f"{YES}{action}", confirmation.yes, round_id)
    no = Button(f"{NO}{action}", confirmation.no, round_id)
    return Post((Line(line), Note(note), Buttons((yes, no))), f"{line} {note}")


async def _confirm_again(
    app: AppContext, message: IncomingMessage, round_id: str
) -> tuple[str, str]:
    again, choice = await repeat_question(app, message, round_id)
    round_ = await new_round(app, again, choice)
    usual = await usual_seconds(app.store, round_.panel.name)
    terms = terms_line(round_, await estimate_round(round_, app.gateway), usual)
    return "Run again? Every model is asked once more.", terms


async def _confirm_forget(
    app: AppContext, message: IncomingMessage, round_id: str
) -> tuple[str, str]:
    round_ = await rounds.find_round_to_forget(app, message, round_id)
    if round_.forgotten:
        return forgotten_line(round_.forgotten), ""
    question = shorten_to_line(round_.question.text, 80)
    note = (
        "This deletes the question, the answers and what was posted here, for everybody and for "
        "good. Rankings, result and cost stay."
    )
    note = f"{note} {await rounds.describe_quoting(app.store, round_)}".rstrip()
    return f"Forget “{question}”?", note


async def _confirm_cancel(
    app: AppContext, message: IncomingMessage, round_id: str
) -> tuple[str, str]:
    round_ = await rounds.find_round_to_cancel(app, message, round_id)
    if why := rounds.why_not_cancellable(round_):
        return why, ""
    note = (
        f"{rounds.answers_kept(round_)}. Nothing more is asked or spent. You can resume it later."
    )
    return f"Cancel round {round_.id}?", note


async def _confirm_cancel_bakeoff(
    app: AppContext, message: IncomingMessage, bakeoff_id: str
) -> tuple[str, str]:
    check_admin(app.access, message, "cancel a bake-off")
    bakeoff = await bakeoffs.find_bakeoff(app, message, bakeoff_id)
    if bakeoff.ending:
        return f"Bake-off {bakeoff.id} has already ended.", ""
    progress = await load_progress(app, bakeoff)
    note = (
        f"{progress.over} of {count_noun(progress.questions, 'question')} are finished and "
        "saved. No more are asked, and nothing more is spent. You can resume it later."
    )
    return f"Cancel bake-off {bakeoff.id}?", note


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The question and its note, the labels of its buttons, and what replaces it after each."""

    ask: Callable[[AppContext, IncomingMessage, str], Awaitable[tuple[str, str]]]
    yes: str
    after_yes: str
    after_no: str
    no: str = "No"


CONFIRMATIONS = {
    "again": Confirmation(
        _confirm_again, "Yes, run again", "Running again …", "Nothing was asked."
    ),
    "cancel": Confirmation(
        _confirm_cancel, "Yes, cancel it", "Cancelling …", "The round is still running."
    ),
    FORGET: Confirmation(
        _confirm_forget, "Forget it", "Forgetting …", "The round stays.", "Keep it"
    ),
    CANCEL: Confirmation(
        _confirm_cancel_bakeoff, "Yes, cancel it", "Cancelling …", "The bake-off is still running."
    ),
}
