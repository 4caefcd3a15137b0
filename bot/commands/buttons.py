"""Button handlers of every chat; each press checks permissions again."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from bot.access import (
    AccessDeniedError,
    check_admitted,
    check_own_round,
)
from bot.admission import dismissed_at_end, readmit_round
from bot.chat import Button, Buttons, Chat, File, IncomingMessage, Line, Note, Post, send_note
from bot.commands import rounds, settings
from bot.commands.ask import ASK_ANYWAY, AskOptions, ask_anyway, ask_with_options, new_round
from bot.commands.button_registry import (
    NO,
    YES,
    ButtonSet,
    Confirmation,
    View,
    buttons_of,
    collect_buttons,
)
from bot.commands.conversations import NEW_QUESTION, start_conversation
from bot.commands.decide import DECIDE_FORM
from bot.commands.dispatch import run_command_button
from bot.commands.retraction import retract_forgotten
from bot.commands.reveal import check_revealed, end_hold, is_held
from bot.commands.round_delivery import deliver_round
from bot.commands.thread_context import ALLOW_READING, allow_reading, recheck_thread
from bot.commands.voting import posts_to_vote
from bot.context import AppContext, usual_seconds
from bot.plugins import Plugins
from bot.render.formatting import file_name
from bot.render.lists import COMMAND
from bot.render.people import with_names
from bot.render.round_json import round_document
from bot.render.round_report.answers import answers_by_label
from bot.render.round_report.decisions import DECIDE
from bot.render.round_report.results import results_post
from bot.render.round_report.thread import REVEAL, details_posts, forgotten_line, whole_round
from bot.render.round_status import terms_line
from bot.render.text_safety import shorten_to_line
from bot.render.voting import VOTE
from council.budget import estimate_round
from council.errors import CouncilError
from council.integrity.erasure import check_not_forgotten
from council.rounds import Round, Stage

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

AGAIN, FORGET, RESUME = "again", "forget", "resume"  # actions
IS_REVEALED = "Everybody sees already who wrote what."
THANKS = "Noted, thank you."
ANSWERS, BALLOTS, RESULTS = "answers", "ballots", "results"  # views of a round
ROUND = "round"  # a modal with everything of a round
MEMBERS_EXPORT = (
    "Only members of this workspace can export, and only in channels that are not shared with "
    "another organisation."
)


def answer_or_ballot_posts(round_: Round, what: str) -> list[Post]:
    """Return the answers, ballots, results or all of a round; CouncilError without any."""
    if round_.draw is None or not (round_.closing or round_.forgotten):
        raise CouncilError("Nothing to show yet: no answers have been ranked.")
    if round_.forgotten and what != BALLOTS:
        raise CouncilError("The texts of this round have been forgotten.")
    if what == BALLOTS:
        return [*details_posts(round_, round_.draw)]
    if what == RESULTS:
        return [results_post(round_, round_.draw)]
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
        reading=before.reading,
    )
    choice = AskOptions(round_.panel.name, round_.panel.terms.method)
    panel = app.panel(choice.panel, place, choice.method)
    return await recheck_thread(app, again, round_, panel), choice


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


async def reveal_round(
    app: AppContext, chat: Chat, message: IncomingMessage, round_id: str
) -> None:
    """Show everybody who wrote what in a held round of one's own, or in any as an admin."""
    check_admitted(app.access, message)
    round_ = await rounds.load_readable_round(app, message, round_id)
    check_own_round(app.access, round_, message.asker, "reveal who wrote what")
    if not await is_held(app, round_):
        raise CouncilError(IS_REVEALED)
    await end_hold(app, round_id)


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
    await check_revealed(app, round_)
    text = json.dumps(round_document(round_), ensure_ascii=False, indent=2)
    file = File(file_name(round_id, "json"), text)
    await chat.send_ephemeral(message, Post((file,), file.name))


# --- Forget


async def forget_round(
    app: AppContext, chat: Chat, message: IncomingMessage, round_id: str
) -> None:
    """Delete the texts of a round, and what was posted of it."""
    round_ = await rounds.find_round_to_forget(app, message, round_id)
    await send_note(chat, message, await rounds.forget_and_wipe(app.store, round_, app.now()))
    await end_hold(app, round_.id)
    await retract_forgotten(app, round_.id)


async def rate_round(
    app: AppContext, chat: Chat, message: IncomingMessage, round_id: str, opinion: rounds.Opinion
) -> None:
    """Store somebody's feedback on a round."""
    await rounds.save_feedback(
        app, await rounds.load_readable_round(app, message, round_id), message.asker.id, opinion
    )
    await send_note(chat, message, THANKS)


# --- Confirmation before a press costs money or ends something


async def confirmation_post(
    app: AppContext, message: IncomingMessage, action: str, round_id: str
) -> Post:
    """Return the question to confirm, with the cost or what stays, or a note if it is too late.

    Raise CouncilError if the action is not possible.
    """
    confirmation = buttons_of(app).confirmations[action]
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
    return f"Cancel “{shorten_to_line(round_.question.text, 80)}”?", note


# --- The buttons of the core


async def _load_view(
    app: AppContext, message: IncomingMessage, round_id: str, *, what: str
) -> list[Post]:
    round_ = await rounds.load_readable_round(app, message, round_id)
    await check_revealed(app, round_)
    return [with_names(post, round_) for post in answer_or_ballot_posts(round_, what)]


CORE_BUTTONS = ButtonSet(
    handlers={
        ALLOW_READING: allow_reading,
        ASK_ANYWAY: ask_anyway,
        AGAIN: ask_again,
        COMMAND: run_command_button,
        NEW_QUESTION: start_conversation,
        "cancel": rounds.cancel_round,
        RESUME: resume_round,
        "export": export_round,
        FORGET: forget_round,
        REVEAL: reveal_round,
    },
    confirmations={
        AGAIN: Confirmation(
            _confirm_again, "Yes, run again", "Running again …", "Nothing was asked."
        ),
        "cancel": Confirmation(
            _confirm_cancel, "Yes, cancel it", "Cancelling …", "The round is still running."
        ),
        FORGET: Confirmation(
            _confirm_forget, "Forget it", "Forgetting …", "The round stays.", "Keep it"
        ),
    },
    views={
        ANSWERS: View("Answers", partial(_load_view, what=ANSWERS)),
        BALLOTS: View("Rankings", partial(_load_view, what=BALLOTS)),
        RESULTS: View("Results", partial(_load_view, what=RESULTS)),
        ROUND: View("Round", partial(_load_view, what=ROUND)),
        VOTE: View("Vote", posts_to_vote),
    },
    forms={**settings.FORMS, DECIDE: DECIDE_FORM},
    replacements={ASK_ANYWAY: "Asking …"},
    proposals=frozenset({ASK_ANYWAY}),
)


def build_buttons(plugins: Plugins) -> ButtonSet:
    """Return the core's buttons and those of active plug-ins."""
    return collect_buttons(CORE_BUTTONS, plugins)
