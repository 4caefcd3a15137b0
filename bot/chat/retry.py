"""Retries of messages to a chat, with backoff."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import chain, repeat
from math import inf

from bot.chat.adapter import DeliveryUnknownError, T
from council.errors import CouncilError


def backoff_seconds() -> Iterator[float]:
    """Return the seconds to wait before each retry; the iterator never ends."""
    return chain((1.0, 2.0, 5.0, 10.0, 20.0, 30.0), repeat(60.0))


async def retry_until_sent(send: Callable[[], Awaitable[T]], timeout_seconds: float = inf) -> T:
    """Return the result of an idempotent action, retried while delivery is unknown.

    Raise the last DeliveryUnknownError once the next retry would exceed the timeout.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_seconds
    for seconds in backoff_seconds():
        try:
            return await send()
        except DeliveryUnknownError:
            if loop.time() + seconds > deadline:
                raise
        await asyncio.sleep(seconds)
    raise AssertionError("the pauses never end")


async def send_first_possible(
    actions: Iterable[Callable[[], Awaitable[object]]], timeout_seconds: float
) -> None:
    """Try each action in order, with retries, until one succeeds; raise the last error."""
    last_error = CouncilError()
    for action in actions:
        try:
            await retry_until_sent(action, timeout_seconds)
        except CouncilError as error:
            last_error = error
        else:
            return
    raise last_error
