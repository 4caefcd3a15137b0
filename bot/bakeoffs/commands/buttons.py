"""Buttons and the form of bake-offs, schedules and suites; each press checks permissions again."""

from collections.abc import Mapping
from functools import partial

from bot.access import check_admin
from bot.bakeoffs.commands import bakeoffs, schedules, suites
from bot.bakeoffs.commands.reports import SHARE, share_report
from bot.bakeoffs.commands.voting import BAKEOFF_VOTE, next_question_posts
from bot.bakeoffs.lifecycle import load_progress
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.bakeoffs import CANCEL, QUESTIONS, RESULTS, RESUME, START
from bot.bakeoffs.render.bakeoffs import LEAVE as DECLINE
from bot.bakeoffs.render.schedules import (
    EXTRA_RUN,
    PAUSE,
    RUN_NOW,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from bot.bakeoffs.render.schedules import RESUME as RESUME_SCHEDULE
from bot.bakeoffs.render.suites import KEEP, question_added_post
from bot.bakeoffs.render.suites import LEAVE as DECLINE_SUITE
from bot.chat import Chat, IncomingMessage, send_note
from bot.commands.button_registry import (
    ButtonSet,
    Confirmation,
    Field,
    Form,
    FormAction,
    View,
)
from bot.commands.rounds import load_readable_round
from bot.context import AppContext
from bot.render.formatting import count_noun

ADD_TO_SUITE = "suite"  # the action
DECLINED = "Nothing was started, and nothing is spent."
# Fields of the form; SUITE is that of an existing one, where a chat shows it apart.
SUITE, NAME, ANSWER = "suite", "name", "answer"
MAX_NAME, MAX_ANSWER = 40, 1000  # characters


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


async def _confirm_cancel_bakeoff(
    app: AppContext, message: IncomingMessage, bakeoff_id: str
) -> tuple[str, str]:
    check_admin(app.access, message, "cancel a bake-off")
    bakeoff = await bakeoffs.find_bakeoff(app, message, bakeoff_id)
    if bakeoff.ending:
        return "This bake-off has already ended.", ""
    progress = await load_progress(app, bakeoff)
    note = (
        f"{progress.over} of {count_noun(progress.questions, 'question')} are finished and "
        "saved. No more are asked, and nothing more is spent. You can resume it later."
    )
    return f"Cancel the bake-off of {bakeoff.suite.name}?", note


# --- The form that adds a round's question to a suite


async def open_suite_form(app: AppContext, message: IncomingMessage, round_id: str) -> Form:
    """Return the form; CouncilError if the user may not read the round or add to suites."""
    suites.check_may_change(app, message, suites.ADD)
    await load_readable_round(app, message, round_id)
    lines = await bakeoff_stores(app).suites.list_summaries(message.place.scope)
    return suite_form(tuple(line.name for line in lines))


def suite_form(names: tuple[str, ...]) -> Form:
    """Return the form, which offers the existing suites of these names."""
    name = Field(
        NAME,
        "Suite",
        MAX_NAME,
        "such as sql-basics",
        choices=names,
        choice_name=SUITE,
        label_of_new="A new suite",
    )
    answer = Field(ANSWER, "The right answer", MAX_ANSWER, "if left out, answers are not graded")
    return Form("Add to suite", "Add", (name, answer))


def _suite_name(values: Mapping[str, str]) -> str:
    return (values.get(NAME) or values.get(SUITE) or "").strip()


def check_suite_form(values: Mapping[str, str]) -> Mapping[str, str]:
    """Return what is wrong with submitted values, by field."""
    return {} if _suite_name(values) else {NAME: "Choose a suite, or give a new one a name."}


async def submit_suite_form(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    round_id: str,
    values: Mapping[str, str],
) -> None:
    """Add a round's question to the suite that the form names."""
    addition = suites.SuiteAddition(_suite_name(values), values.get(ANSWER, ""))
    await add_to_suite(app, chat, message, round_id, addition)


async def add_to_suite(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    round_id: str,
    addition: suites.SuiteAddition,
) -> None:
    """Add a round's question to a suite."""
    suites.check_may_change(app, message, suites.ADD)
    round_ = await load_readable_round(app, message, round_id)
    made = await suites.suite_with_question(app, message, round_, addition)
    await bakeoff_stores(app).suites.save(made, message.asker.id, app.now())
    cost = await suites.estimate_suite_run(app, message.place, made)
    await chat.send_ephemeral(message, question_added_post(made, cost))


BUTTONS = ButtonSet(
    handlers={
        START: start_proposed,
        DECLINE: decline_proposal,
        CANCEL: bakeoffs.cancel_bakeoff,
        RESUME: bakeoffs.resume_bakeoff,
        KEEP: suites.keep_suite,
        DECLINE_SUITE: suites.decline_suite,
        suites.REMOVE: suites.remove_suite,
        suites.RETAIN: suites.retain_suite,
        SHARE: share_report,
        SUBSCRIBE: partial(schedules.press_subscribe, wanted=True),
        UNSUBSCRIBE: partial(schedules.press_subscribe, wanted=False),
        RUN_NOW: schedules.press_run,
        EXTRA_RUN: schedules.press_extra_run,
        PAUSE: schedules.press_pause,
        RESUME_SCHEDULE: schedules.press_resume,
    },
    confirmations={
        CANCEL: Confirmation(
            _confirm_cancel_bakeoff,
            "Yes, cancel it",
            "Cancelling …",
            "The bake-off is still running.",
        ),
    },
    views={
        BAKEOFF_VOTE: View("Vote", next_question_posts),
        RESULTS: View("Results", bakeoffs.load_board_posts),
        QUESTIONS: View("Questions", bakeoffs.load_question_posts),
    },
    forms={ADD_TO_SUITE: FormAction(open_suite_form, check_suite_form, submit_suite_form)},
    replacements={START: "Starting …", EXTRA_RUN: "Starting …"},
    proposals=frozenset(
        {KEEP, DECLINE_SUITE, suites.REMOVE, suites.RETAIN, START, EXTRA_RUN, DECLINE}
    ),
    round_buttons=((ADD_TO_SUITE, "Add to suite"),),
    next_votes=(BAKEOFF_VOTE,),
)
