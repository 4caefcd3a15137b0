"""A bake-off held to its end, before people's eyes where it reports to a chat.

Whoever holds it can be stopped at any moment and begin anew: rounds that are over are found
again, and so is what was posted. Its end is noted once it has been told.
"""

import asyncio
from contextlib import suppress
from functools import partial

import structlog

from bot.bakeoffs import news
from bot.bakeoffs.carrying import Carrying, Outcome
from bot.bakeoffs.following import followed, holding_of, is_held, watching
from bot.bakeoffs.holds import Carry, Held
from bot.bakeoffs.house import House
from bot.bakeoffs.standing import standing
from bot.bakeoffs.telling import Silence, Telling
from bot.chat import Chat, UnwelcomeError
from council.bakeoffs.models import Bakeoff, Ending, Progress
from council.errors import BakeoffError, CouncilError, StoreError
from council.ports import Wanted

INTERRUPTED = "It was stopped by a fault: {why}"
LAST_SECONDS, LOOK_SECONDS = 10.0, 0.2  # until a work that has told of its end is over, and between


async def hold(house: House, chat: Chat | None, bakeoff: Bakeoff) -> Progress:
    """Carry a kept bake-off to its end, shown in its place by a chat; give how it ended.

    Whoever waits for it may leave: it goes on. Raises HeldElsewhereError where another process
    holds it, UnwelcomeError where it cannot be shown and nothing was asked yet: then nothing is.
    """
    newest = Progress(bakeoff)
    with house.bus.heard(news.topic_of(bakeoff.id)) as said:  # from before it begins
        await begin(house, chat, bakeoff)
        if house.works is None:
            going = house.holds.watching(bakeoff.id)
        else:
            going = followed(house, house.works, bakeoff, said)
        async for progress in going:
            newest = progress
    return newest


async def begin(house: House, chat: Chat | None, bakeoff: Bakeoff) -> None:
    """Do as `hold`, and do not wait for it; in a cluster, whichever process comes first holds it.

    Then that process finds a chat of its own to show it in.
    """
    if house.works is None:
        house.holds.begin(bakeoff, carry(house, chat))
    else:
        with suppress(StoreError):  # then the sweep finds it
            await house.works.begin(holding_of(house, bakeoff))


def carry(house: House, chat: Chat | None) -> Carry:
    """Give how a bake-off is carried to its end, shown by a chat where there is one."""
    return partial(_held, house, chat)


async def cancel(house: House, bakeoff: Bakeoff, why: str) -> int:
    """Stop spending on a bake-off at once; give how many of its rounds are over and kept.

    Whoever holds it tells of it in its place. Raises BakeoffError for one that is over.
    """
    stored = await house.bench.bakeoffs.load(bakeoff.id)
    if stored.ending:
        raise BakeoffError(f"Bake-off {bakeoff.id} is over already.")
    await house.bench.bakeoffs.end(bakeoff.id, Ending(house.now(), why))
    house.holds.ring(bakeoff.id)
    await house.bus.tell(news.bell_of(bakeoff.id))
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
    if await is_held(house, bakeoff):
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
    """Wait until whoever holds it has told that it is over."""
    with suppress(CouncilError):
        async for _ in watching(house, bakeoff):
            pass
    with suppress(TimeoutError):  # it has told, and is about to end
        async with asyncio.timeout(LAST_SECONDS):
            while await is_held(house, bakeoff):  # noqa: ASYNC110 - another process ends it
                await asyncio.sleep(LOOK_SECONDS)


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
