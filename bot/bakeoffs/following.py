"""A bake-off watched from any process, whichever holds it; rows are the truth of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from bot.bakeoffs import news
from bot.bakeoffs.house import House
from bot.bakeoffs.standing import standing
from bot.ports import BAKEOFFS, Work, Works, seems_begun, work_of
from council.bakeoffs.models import Bakeoff, Progress
from council.errors import BakeoffError

LOOK_SECONDS = 3.0  # without news, after which rows are looked at
INTERRUPTED = "Bake-off {id} was interrupted: `/council bakeoff resume {id}` goes on with it."


def holding_of(house: House, bakeoff: Bakeoff) -> Work:
    """Give the work of holding a bake-off, in a cluster."""
    return work_of(BAKEOFFS, bakeoff.place, bakeoff.id, house.shards)


async def is_held(house: House, bakeoff: Bakeoff) -> bool:
    """Say whether a bake-off is under way, here or in another process of a cluster."""
    if house.holds.seen(bakeoff.id):
        return True
    return house.works is not None and await house.works.is_begun(holding_of(house, bakeoff))


async def watching(house: House, bakeoff: Bakeoff) -> AsyncIterator[Progress]:
    """Give all progress of a bake-off that is held, from the newest on to its end.

    Raises what kept it from its end; gives nothing for one that is not held.
    """
    if house.works is None or house.holds.seen(bakeoff.id):
        async for progress in house.holds.watching(bakeoff.id):
            yield progress
    elif await is_held(house, bakeoff):
        with house.bus.heard(news.topic_of(bakeoff.id)) as said:
            async for progress in followed(house, house.works, bakeoff, said):
                yield progress


async def followed(
    house: House, works: Works, bakeoff: Bakeoff, said: "asyncio.Queue[str]"
) -> AsyncIterator[Progress]:
    """Do as `watching` for a bake-off of which news are said; its work was begun."""
    is_over, is_unsure = False, True
    while True:
        is_begun = not is_over and await seems_begun(works, holding_of(house, bakeoff))
        stored = await house.bench.bakeoffs.load(bakeoff.id)
        if is_unsure or not is_begun:
            yield await standing(house, stored)
        if not is_begun and not stored.ending:
            raise BakeoffError(INTERRUPTED.format(id=bakeoff.id))
        if not is_begun:
            return
        async for found in _heard(stored, said):
            if found.error:
                raise found.error
            if found.progress:
                yield found.progress
            is_over, is_unsure = found.is_over, found.is_unsure


async def _heard(bakeoff: Bakeoff, said: "asyncio.Queue[str]") -> AsyncIterator[news.News]:
    """Give news as long as they tell how it stands, and one more."""
    has_more = True
    while has_more:
        found = news.News()
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                found = news.heard(await said.get(), bakeoff)
        has_more = found.progress is not None
        yield found
