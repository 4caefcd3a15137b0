"""Acts on the database that are never left half done. Knows nothing of what they do."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def finished(act: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Give the act so that, once begun, it comes to its end before whoever cancels it goes on.

    A connection that loses its caller in the middle keeps the database locked.
    """

    @wraps(act)
    async def whole(*args: P.args, **kwargs: P.kwargs) -> T:
        task = asyncio.create_task(act(*args, **kwargs))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # Its own error, if any, is read so that nobody prints it; the cancellation goes on.
            await asyncio.gather(task, return_exceptions=True)
            raise

    return whole
