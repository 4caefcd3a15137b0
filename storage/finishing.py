"""Acts on the database that are never left half done. Knows nothing of what they do.

What a database server could not do is tried again, for as long as a restart of it takes.
"""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from itertools import chain, repeat
from typing import Any, ParamSpec, TypeVar

from storage.losing import LostError

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_SECONDS = 60.0
PAUSES_SECONDS = (0.0, 0.1, 0.2, 0.5, 1.0)  # before each further try; the last goes on
TRY_SECONDS = 15.0  # what one try takes at most, where nothing stands still

patience: ContextVar[float] = ContextVar("patience", default=PATIENCE_SECONDS)


@dataclass(frozen=True, slots=True)
class Try:
    """A try of an act: the act's own key, the same for all its tries, and whether there was one.

    One before may have arrived although nobody heard so.
    """

    key: str = ""
    again: bool = False


_NONE = Try()
_try: ContextVar[Try] = ContextVar("try", default=_NONE)


def this_try() -> Try:
    """Give the try that is under way."""
    return _try.get()


def finished(act: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Give the act so that, once begun, it comes to its end before whoever cancels it goes on.

    A connection that loses its caller in the middle keeps the database locked. An act that is lost
    on the way to a server is done again until it arrives, or patience is at its end; one that was
    cancelled meanwhile is not. So it must come to the same whether it arrives once or twice.
    """

    @wraps(act)
    async def whole(*args: P.args, **kwargs: P.kwargs) -> T:
        cancelled = asyncio.Event()
        task = asyncio.create_task(_until_done(lambda: act(*args, **kwargs), cancelled))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled.set()
            await _ended(task)
            raise

    return whole


async def _ended(task: "asyncio.Task[Any]") -> None:
    """Wait for a task's end, however often one is told not to; one's cancellation goes on."""
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # its own error, if any, is read so that nobody prints it


async def _until_done(act: Callable[[], Coroutine[Any, Any, T]], cancelled: asyncio.Event) -> T:
    loop, left = asyncio.get_running_loop(), patience.get()
    pauses = chain(PAUSES_SECONDS, repeat(PAUSES_SECONDS[-1]))
    # The task is this act's own, so no other act is told of its tries.
    _try.set(Try(secrets.token_hex(16)))
    while True:
        began = loop.time()
        try:
            return await act()
        except LostError:
            if left <= 0 or await _came(cancelled, next(pauses)):
                raise
        # A process that was frozen has not waited all that while.
        left -= min(loop.time() - began, TRY_SECONDS)
        _try.set(replace(this_try(), again=True))


async def _came(event: asyncio.Event, within_seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), within_seconds)
    except TimeoutError:
        return event.is_set()
    return True
