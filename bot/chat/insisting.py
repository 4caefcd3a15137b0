"""Acts that are tried again through lost connections."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import chain, repeat
from math import inf
from typing import TypeVar

from bot.chat.errors import UnsureError
from council.errors import CouncilError

Done = TypeVar("Done")


def pauses() -> Iterator[float]:
    """Give the seconds to wait before each new try of what must be done at last; they never end."""
    return chain((1.0, 2.0, 5.0, 10.0, 20.0, 30.0), repeat(60.0))


async def insisted(act: Callable[[], Awaitable[Done]], patience_seconds: float = inf) -> Done:
    """Give what an act comes to that may be done twice, through lost connections."""
    loop = asyncio.get_running_loop()
    until = loop.time() + patience_seconds
    for seconds in pauses():
        try:
            return await act()
        except UnsureError:
            if loop.time() + seconds > until:
                raise
        await asyncio.sleep(seconds)
    raise AssertionError("the pauses never end")


async def insisted_on_one(
    ways: Iterable[Callable[[], Awaitable[object]]], patience_seconds: float
) -> None:
    """Go the first of several ways that is open, patiently; raise what the last one failed with."""
    last = CouncilError()
    for way in ways:
        try:
            await insisted(way, patience_seconds)
        except CouncilError as error:
            last = error
        else:
            return
    raise last
