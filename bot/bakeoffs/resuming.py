"""Bake-offs that a stop or a crash interrupted, gone on with when their chat is there again."""

from collections.abc import Callable

import structlog

from bot.bakeoffs.holding import begin
from bot.bakeoffs.house import House
from bot.chat import Chat
from council.bakeoffs.models import Bakeoff
from council.bakeoffs.ports import WantedBakeoffs
from council.errors import CouncilError
from council.places import HOUSE, Place

Way = Callable[[Place], Chat | None]


async def go_on_in(house: House, chat: str, way: Way) -> None:
    """Go on with what reports to a chat, in the places that the way leads to."""
    for bakeoff in await _unfinished(house):
        if bakeoff.place.chat == chat and (found := way(bakeoff.place)):
            await _go_on(house, found, bakeoff)


async def go_on_at_home(house: House) -> None:
    """Go on with what was begun on the page or the command line; who looks there, sees it."""
    for bakeoff in await _unfinished(house):
        if bakeoff.place.chat in HOUSE:
            await _go_on(house, None, bakeoff)


async def _unfinished(house: House) -> tuple[Bakeoff, ...]:
    return await house.bench.bakeoffs.recent(wanted=WantedBakeoffs(unfinished=True))


async def _go_on(house: House, chat: Chat | None, bakeoff: Bakeoff) -> None:
    try:
        await begin(house, chat, bakeoff)
    except CouncilError as error:  # another process holds it
        structlog.get_logger().info("bakeoff_not_resumed", bakeoff_id=bakeoff.id, why=str(error))
