"""A question that follows a round: what it refers to is that round, and those after it."""

from collections.abc import Sequence
from contextlib import suppress

from bot.chat import Sent
from bot.commands.desk import Desk
from council.errors import RoundNotFoundError
from council.places import Place
from council.ports import Wanted
from council.rounds import Round

MOST_CHARACTERS = 12_000
MOST_ROUNDS = 50  # of a channel, among which a thread's are looked for


async def rounds_of_thread(desk: Desk, place: Place, asked: str = "") -> tuple[Round, ...]:
    """Give the rounds of the thread that one began, oldest first; none of any other thread.

    The thread's first message shows a round, or asked for the one with the id `asked`.
    """
    first = await _first_round(desk, place, asked)
    if first is None:
        return ()
    here = Wanted(
        chats=(place.chat,), workspace=place.workspace, here=place, only_here=True, bakeoff=""
    )
    lines = await desk.store.recent(MOST_ROUNDS, here)
    later = [x.id for x in reversed(lines) if x.place.thread == place.thread and x.id != first.id]
    return (first, *[await desk.store.load(round_id) for round_id in later])


async def _first_round(desk: Desk, place: Place, asked: str) -> Round | None:
    try:
        return await round_at(desk, place, place.thread or "") or await desk.store.load(asked)
    except RoundNotFoundError:
        return None


async def round_at(desk: Desk, place: Place, message: str) -> Round | None:
    """Give the round whose first message this is; None for one that shows no single round."""
    round_id = await desk.outbox.root_of(Sent(place, message))
    with suppress(RoundNotFoundError):  # a bake-off's message
        return await desk.store.load(round_id) if round_id else None
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
