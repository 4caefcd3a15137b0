"""What a process of a cluster does beside serving: what is the house's, and done by one of all."""

import asyncio
from collections.abc import Coroutine
from functools import partial

import structlog

from bot.bakeoffs.lifecycle import Holding
from bot.commands.buttons import MOST_REMEMBERED, PRESS
from bot.commands.context import Desk
from bot.ports import PAGE, Works
from council.errors import CouncilError

OPENING_SECONDS = 30.0  # a round whose money is reserved is stored within that, or never


def acts_of_a_cluster(desk: Desk, works: Works) -> list[Coroutine[None, None, None]]:
    """Give what goes on as long as the process serves."""
    return [_page_bakeoffs(desk, works), _swept(desk)]


async def _page_bakeoffs(desk: Desk, works: Works) -> None:
    """Hold what was begun on the page, with the other processes."""
    async with Holding(desk, PAGE).serving(works):
        await asyncio.Event().wait()


async def _swept(desk: Desk) -> None:
    """Free money that nobody holds, and forget presses of long ago, unless another process does."""
    try:
        async with desk.holds.alone_with("sweep") as is_ours:
            if is_ours:
                await desk.budget.sweep(desk.store, partial(asyncio.sleep, OPENING_SECONDS))
                await desk.memos.keep_newest(PRESS, MOST_REMEMBERED)
    except CouncilError as error:  # the next process that starts makes up for it
        structlog.get_logger().warning("not_swept", why=str(error))
