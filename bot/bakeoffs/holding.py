"""A bake-off held to its end, before people's eyes where it reports to a chat.

Whoever holds it can be stopped at any moment and begin anew: rounds that are over are found
again, and so is what was posted. Its end is noted once it has been told.
"""

import asyncio
from contextlib import suppress
from functools import partial

import structlog

from bot.bakeoffs.carrying import Carrying, Outcome
from bot.bakeoffs.holds import Held
from bot.bakeoffs.house import House
from bot.bakeoffs.standing import standing
from bot.bakeoffs.telling import Silence, Telling
from bot.chat import Chat, UnwelcomeError
from council.bakeoffs.bakeoff import Bakeoff, Ending
from council.bakeoffs.progress import Progress
from council.errors import BakeoffError, CouncilError
from council.ports import Wanted

INTERRUPTED = "It was stopped by a fault: {why}"


async def hold(house: House, chat: Chat | None, bakeoff: Bakeoff) -> Progress:
    """Carry a kept bake-off to its end, shown in its place by a chat; give how it ended.

    Whoever waits for it may leave: it goes on. Raises HeldElsewhereError where another process
    holds it, UnwelcomeError where it cannot be shown and nothing was asked yet: then nothing is.
    """
    begin(house, chat, bakeoff)
    newest = Progress(bakeoff)
    async for progress in house.holds.watching(bakeoff.id):
        newest = progress
    return newest


def begin(house: House, chat: Chat | None, bakeoff: Bakeoff) -> None:
    """Do as `hold`, and do not wait for it."""
    house.holds.begin(bakeoff, partial(_held, house, chat))


async def cancel(house: House, bakeoff: Bakeoff, why: str) -> int:
    """Stop spending on a bake-off at once; give how many of its rounds are over and kept.

    Whoever holds it tells of it in its place. Raises BakeoffError for one that is over.
    """
    stored = await house.bench.bakeoffs.load(bakeoff.id)
    if stored.ending:
        raise BakeoffError(f"Bake-off {bakeoff.id} is over already.")
    await house.bench.bakeoffs.end(bakeoff.id, Ending(house.now(), why))
    house.holds.ring(bakeoff.id)
    lines = await house.store.recent(wanted=Wanted(bakeoff=bakeoff.id))
    unfinished = [line.id for line in lines if line.seconds is None]
    await asyncio.gather(*(house.runner.stop(round_id) for round_id in unfinished))
    for round_id in unfinished:
        await house.budget.release(round_id)
    return len(lines) - len(unfinished)


async def reopened(house: House, bakeoff: Bakeoff, cap_micro: int | None = None) -> Bakeoff:
    """Give a bake-off that did not come to its last question, to be gone on with.

    With a cap, under that one from now on. BakeoffError where there is nothing to go on with.
    """
    if (await house.bench.bakeoffs.load(bakeoff.id)).ending:
        await _let_go(house, bakeoff)
    if house.holds.seen(bakeoff.id):
        raise BakeoffError(f"Bake-off {bakeoff.id} is under way: there is nothing to go on with.")
    if (await standing(house, bakeoff)).is_whole:
        raise BakeoffError(
            f"Every question of bake-off {bakeoff.id} is over: "
            f"`/council bakeoff {bakeoff.suite.name}` holds a new one."
        )
    if cap_micro is not None:
        await house.bench.bakeoffs.limit(bakeoff.id, cap_micro)
    await house.bench.bakeoffs.end(bakeoff.id, None)
    return await house.bench.bakeoffs.load(bakeoff.id)


async def _let_go(house: House, bakeoff: Bakeoff) -> None:
    """Wait until whoever holds it here has told that it is over."""
    with suppress(CouncilError):
        async for _ in house.holds.watching(bakeoff.id):
            pass


async def _held(house: House, chat: Chat | None, held: Held) -> None:
    bakeoff = held.progress.bakeoff
    carrying = Carrying(house, bakeoff, held.show, held.bell)
    await carrying.take_stock()
    telling = Telling(house, chat, carrying.progress) if chat else Silence()
    try:
        await telling.begin()
    except UnwelcomeError as error:  # nobody has been asked yet, and then nobody is
        await house.bench.bakeoffs.end(bakeoff.id, Ending(house.now(), str(error)))
        raise
    try:
        async with telling.kept_up(held):
            outcome = await carrying.run()
    except CouncilError as error:
        await telling.stop(carrying.progress, INTERRUPTED.format(why=error))
        raise
    final = await _ended(house, carrying.progress, outcome)
    await telling.end(final, is_cancelled=outcome.cancelled)
    if not outcome.cancelled and final.bakeoff.ending:
        await house.bench.bakeoffs.end(bakeoff.id, final.bakeoff.ending)
    _log(final)
    held.show(final)


def _log(final: Progress) -> None:
    structlog.get_logger().info(
        "bakeoff_ended",
        bakeoff_id=final.bakeoff.id,
        questions=final.questions,
        over=final.over,
        failed=len(final.failed),
        spent_micro=final.spent_micro,
        early=final.bakeoff.ending is not None and final.bakeoff.ending.failure is not None,
    )


async def _ended(house: House, progress: Progress, outcome: Outcome) -> Progress:
    stored = await house.bench.bakeoffs.load(progress.bakeoff.id)
    return progress.ended(stored.ending or Ending(house.now(), outcome.blocked))
