"""What buttons do, in every chat: each press is authorised again."""

import json
from dataclasses import replace

from bot.access import admitted, check_own, check_readable
from bot.chat import Chat, File, Note, Post, Said
from bot.commands import bakeoff_presses
from bot.commands.asking import Choice, asked
from bot.commands.cancelling import cancel
from bot.commands.desk import Desk
from bot.commands.displaying import have_shown
from bot.commands.growing import Joining, join
from bot.commands.rating import Opinion, rate
from bot.commands.showing import send_file
from bot.commands.suites import check_own_people, keep, leave, run_of
from bot.render.bakeoffs import CANCEL, RESUME
from bot.render.bakeoffs import LEAVE as LEAVE_IT
from bot.render.bakeoffs import START as BEGIN
from bot.render.formatting import file_name
from bot.render.round_json import document
from bot.render.round_report import answer_posts, ballots_post, forgotten_line
from bot.render.suites import KEEP, LEAVE, grown_post
from council.errors import CouncilError
from council.rounds import Round, Stage

THANKS = "Noted, thank you."
OTHER_VERSION = (
    "This comes from another version of the council, as while a new one is being installed: try "
    "it again in a few minutes."
)


async def readable_round(desk: Desk, said: Said, round_id: str) -> Round:
    """Give a round, if the one who presses may read it where they do."""
    round_ = await desk.store.load(round_id)
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


async def ask_again(desk: Desk, chat: Chat, said: Said, round_id: str) -> None:
    """Put a round's question to its panel once more, as the presser's own."""
    again, choice = await anew(desk, said, round_id)
    await asked(desk, chat, again, choice)


async def anew(desk: Desk, said: Said, round_id: str) -> tuple[Said, Choice]:
    """Give what the presser says when a round's question is put to its panel once more."""
    round_ = await readable_round(desk, said, round_id)
    _check_remembered(round_)
    before = round_.question
    here = (before.place.workspace, before.place.channel) == (
        said.place.workspace,
        said.place.channel,
    )
    place = before.place if here else replace(said.place, thread=None)
    again = replace(said, text=before.text, context=before.context, place=place)
    return again, Choice(round_.panel.name, round_.panel.terms.method)


def _check_remembered(round_: Round) -> None:
    if round_.forgotten:
        raise CouncilError(forgotten_line(round_.forgotten))


async def go_on(desk: Desk, chat: Chat, said: Said, round_id: str) -> None:
    """Go on with a round that was cancelled, or stopped by a fault."""
    round_ = await readable_round(desk, said, round_id)
    check_own(desk.access, round_, said.asker, "go on with a round")
    _check_remembered(round_)
    if round_.closing or await desk.runner.is_carried(round_id):
        raise CouncilError(f"Round {round_id} is not stopped: there is nothing to go on with.")
    await desk.reopen(round_)
    with desk.seeing_through(round_):
        await have_shown(desk, chat, said, round_)


async def export(desk: Desk, chat: Chat, said: Said, round_id: str) -> None:
    """Put a round as JSON in its own thread, once: who may read the one may read the other."""
    round_ = await readable_round(desk, said, round_id)
    if round_.stage is not Stage.CLOSED:
        raise CouncilError(f"Round {round_id} is still at stage {round_.stage.value}.")
    if not chat.keeps_files:
        raise CouncilError("I may not post files here: ask an admin to grant that.")
    root = await desk.outbox.root(round_id, round_.question.place)
    if root is None:
        raise CouncilError(f"The thread of round {round_id} is not there to put a file in.")
    place = replace(root.place, thread=root.place.thread or root.message)
    text = json.dumps(document(round_), ensure_ascii=False, indent=2)
    await send_file(desk, chat, round_, place, File(file_name(round_id, "json"), text))
    line = "The round is in its thread, as JSON: everything that was stored of it."
    await chat.whisper(said, Post((Note(line),), line))


async def opine(desk: Desk, chat: Chat, said: Said, round_id: str, opinion: Opinion) -> None:
    """Keep whether a round helped somebody."""
    await rate(desk, await readable_round(desk, said, round_id), said.asker.id, opinion)
    await chat.whisper(said, Post((Note(THANKS),), THANKS))


def check_may_add(desk: Desk, said: Said) -> None:
    """Raise NotAdmittedError unless this person may add to suites here."""
    admitted(desk.access, said)
    check_own_people(said)


async def add_to_suite(desk: Desk, chat: Chat, said: Said, round_id: str, joining: Joining) -> None:
    """Keep a round's question in a suite, for somebody who may read it and ask here."""
    check_may_add(desk, said)
    made = await join(desk, said, await readable_round(desk, said, round_id), joining)
    await chat.whisper(said, grown_post(made, await run_of(desk, said.place, made)))


PROPOSED = {KEEP, LEAVE, BEGIN, LEAVE_IT}  # once pressed, what was proposed is proposed no more
PRESSES = {
    "again": ask_again,
    "cancel": cancel,
    "resume": go_on,
    "export": export,
    BEGIN: bakeoff_presses.begin,
    LEAVE_IT: bakeoff_presses.leave,
    CANCEL: bakeoff_presses.cancel_by_button,
    RESUME: bakeoff_presses.go_on_by_button,
    KEEP: keep,
    LEAVE: leave,
}
