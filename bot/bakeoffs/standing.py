"""How a bake-off stands, whoever holds it and whether anybody does."""

import asyncio

from bot.bakeoffs.carrying import Carrying
from bot.bakeoffs.house import House
from council.bakeoffs.models import Bakeoff, Progress


async def standing(house: House, bakeoff: Bakeoff) -> Progress:
    """Give what the process sees that holds it here, else what its rows tell."""
    if seen := house.holds.seen(bakeoff.id):
        return seen
    carrying = Carrying(house, bakeoff, lambda _: None, asyncio.Event())
    await carrying.take_stock()
    return carrying.progress
