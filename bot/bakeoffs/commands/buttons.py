"""Buttons and forms of bake-offs, schedules and suites; each press checks permissions again."""

from functools import partial

from bot.access import check_admin
from bot.bakeoffs.commands import bakeoffs, schedules, suites, trials
from bot.bakeoffs.commands.forms import ADD_TO_SUITE, FORMS
from bot.bakeoffs.commands.reports import SHARE, share_report
from bot.bakeoffs.commands.voting import BAKEOFF_VOTE, next_question_posts
from bot.bakeoffs.lifecycle import load_progress
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
from bot.bakeoffs.render.suites import KEEP
from bot.bakeoffs.render.suites import LEAVE as DECLINE_SUITE
from bot.bakeoffs.render.trials import START_TRIAL
from bot.chat import Chat, IncomingMessage, send_note
from bot.commands.button_registry import ButtonSet, Confirmation, View
from bot.context import AppContext
from bot.render.formatting import count_noun

DECLINED = "Nothing was started, and nothing is spent."


async def start_proposed(app: AppContext, chat: Chat, message: IncomingMessage, value: str) -> None:
    """Start a proposed bake-off."""
    suites.check_may_change(app, message, "start a bake-off")
    await bakeoffs.start_bakeoff(
        app, chat, message, await bakeoffs.proposed_bakeoff(app, message, value)
    )


async def start_proposed_trial(
    app: AppContext, chat: Chat, message: IncomingMessage, value: str
) -> None:
    """Start a proposed trial."""
    suites.check_may_change(app, message, "start a bake-off")
    await trials.start_proposed_trial(app, chat, message, value)


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


BUTTONS = ButtonSet(
    handlers={
        START: start_proposed,
        START_TRIAL: start_proposed_trial,
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
    forms=FORMS,
    replacements=dict.fromkeys((START, START_TRIAL, EXTRA_RUN), "Starting …"),
    proposals=frozenset(
        {
            KEEP,
            DECLINE_SUITE,
            suites.REMOVE,
            suites.RETAIN,
            START,
            START_TRIAL,
            EXTRA_RUN,
            DECLINE,
        }
    ),
    round_buttons=((ADD_TO_SUITE, "Add to suite"),),
    next_votes=(BAKEOFF_VOTE,),
)
