"""What is asked back before a press costs money or ends something.

The question is a post with two buttons, each of which says what it is the answer to; whoever
presses one is authorised again.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.access import check_own_bakeoff
from bot.bakeoffs.standing import standing
from bot.chat import Button, Buttons, Line, Note, Post, Said
from bot.commands.asking import proposed
from bot.commands.bakeoff_meant import meant_bakeoff
from bot.commands.cancelling import kept, over, to_cancel
from bot.commands.desk import Desk
from bot.commands.pressing import anew
from bot.commands.usual import usual_seconds
from bot.render.bakeoffs import CANCEL, START
from bot.render.formatting import counted
from bot.render.round_status import terms_of
from council.budget import estimated

YES, NO = "yes_", "no_"  # before the action that was asked about


@dataclass(frozen=True, slots=True)
class Words:
    """What stands on the two buttons of a question, and what stands in its place once pressed."""

    yes: str
    no: str
    then: str
    else_: str


WORDS = {
    "again": Words("Yes, run again", "No", "Running again …", "Nothing was asked."),
    "cancel": Words("Yes, cancel it", "No", "Cancelling …", "The round goes on."),
    CANCEL: Words("Yes, cancel it", "No", "Cancelling …", "The bake-off goes on."),
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


async def asked_back(desk: Desk, said: Said, action: str, round_id: str) -> Post:
    """Give the question to answer first: what it will cost, or what is kept.

    Raises CouncilError where the press would come to nothing.
    """
    line, note = await _QUESTIONS[action](desk, said, round_id)
    if not note:
        return Post((Note(line),), line)
    words = WORDS[action]
    yes = Button(f"{YES}{action}", words.yes, round_id)
    no = Button(f"{NO}{action}", words.no, round_id)
    return Post((Line(line), Note(note), Buttons((yes, no))), f"{line} {note}")


async def _again(desk: Desk, said: Said, round_id: str) -> tuple[str, str]:
    again, choice = await anew(desk, said, round_id)
    round_ = proposed(desk, again, again.text, choice)
    usual = await usual_seconds(desk.store, round_.panel.name)
    terms = terms_of(round_, await estimated(round_, desk.gateway), usual)
    return "Run again? The whole council is asked once more.", terms


async def _cancel(desk: Desk, said: Said, round_id: str) -> tuple[str, str]:
    round_ = await to_cancel(desk, said, round_id)
    if why := over(round_):
        return why, ""
    note = f"{kept(round_)}; nobody else is asked, and nothing more spent. It can go on later."
    return f"Cancel round {round_.id}?", note


async def _cancel_bakeoff(desk: Desk, said: Said, bakeoff_id: str) -> tuple[str, str]:
    bakeoff = await meant_bakeoff(desk, said, bakeoff_id)
    check_own_bakeoff(desk.access, bakeoff, said.asker, "cancel a bake-off")
    if bakeoff.ending:
        return f"Bake-off {bakeoff.id} is over already.", ""
    progress = await standing(desk, bakeoff)
    note = (
        f"{progress.over} of {counted(progress.questions, 'question')} are over and kept; nobody "
        "else is asked, and nothing more spent. It can go on later."
    )
    return f"Cancel bake-off {bakeoff.id}?", note


_QUESTIONS: dict[str, Callable[[Desk, Said, str], Awaitable[tuple[str, str]]]] = {
    "again": _again,
    "cancel": _cancel,
    CANCEL: _cancel_bakeoff,
}
