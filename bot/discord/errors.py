"""Errors of Discord translated into the chat's, retries, and the rate limiter of edits."""

import asyncio
import math
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import aiohttp
import discord

from bot import chat
from bot.chat import DeliveryUnknownError, MessageGoneError, NoThreadError, PostingForbiddenError
from council.errors import CouncilError

T = TypeVar("T")

UNKNOWN_CHANNEL, UNKNOWN_GUILD, UNKNOWN_MESSAGE = 10003, 10004, 10008
TOO_MANY_OLD_EDITS = 30046  # of a message older than an hour
NO_ACCESS, NO_PERMISSION = 50001, 50013
ARCHIVED, LOCKED, THREAD_EXISTS = 50083, 160005, 160004
WRONG_KIND, NOT_IN_DIRECT = 50024, 50003
_UNAUTHORIZED, _TOO_MANY_REQUESTS = 401, 429
_LOCKED_REASON = "the thread is archived or locked"
_POSTING_FORBIDDEN = {
    UNKNOWN_CHANNEL: "the channel is not there any more",
    NO_ACCESS: "I cannot see the channel; I need View Channel there",
    NO_PERMISSION: "I need View Channel, Send Messages and Send Messages in Threads there",
    ARCHIVED: _LOCKED_REASON,
    LOCKED: _LOCKED_REASON,
    10013: "they are not there any more",
    50007: "they take no direct messages from me",
    50278: "they take no direct messages from me",
}
_NO_THREAD = {
    UNKNOWN_CHANNEL: "it was deleted",
    ARCHIVED: "it is archived or locked",
    LOCKED: "it is archived or locked",
    WRONG_KIND: "this kind of channel has none",
    NOT_IN_DIRECT: "there are none in direct messages",
}
FOREVER = math.inf

MAX_EDITS, EDIT_WINDOW_SECONDS = 5, 5.0  # in one channel
MAX_CALLS_PER_SECOND, BURST_SECONDS = 30, 0.5
ANSWER_SECONDS = 0.2  # reserved for an answer before anything else is sent
MESSAGE_EXPIRY_SECONDS = 30.0  # after which a message without edits no longer needs room


class RefusedError(CouncilError):
    """Discord refused a call; `code` is its error code."""

    def __init__(self, code: int, reason: str, *, is_about_token: bool = False) -> None:
        super().__init__(f"Discord refused: {reason or code}.")
        self.code = code
        self.is_about_token = is_about_token


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate errors of discord.py and the network into the chat's errors.

    Raise DeliveryUnknownError where a later try may succeed, else MessageGoneError,
    PostingForbiddenError or RefusedError.
    """
    try:
        yield
    except discord.DiscordServerError as error:
        raise DeliveryUnknownError(
            f"Discord is at fault itself just now ({error.status})."
        ) from None
    except discord.HTTPException as error:
        raise _translate(error) from None
    except discord.RateLimited as error:
        raise DeliveryUnknownError(
            f"Discord wants to be left alone for {error.retry_after:.0f} s."
        ) from None
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        reason = f"The connection to Discord was lost ({type(error).__name__})."
        raise DeliveryUnknownError(reason) from None


def _translate(error: discord.HTTPException) -> CouncilError:
    if error.code == UNKNOWN_MESSAGE:
        return MessageGoneError("The message is not there any more.")
    if error.code == TOO_MANY_OLD_EDITS:
        return MessageGoneError("The message is old and cannot be edited any more.")
    if error.code in _POSTING_FORBIDDEN:
        return PostingForbiddenError(f"I cannot post there: {_POSTING_FORBIDDEN[error.code]}.")
    if error.status == _TOO_MANY_REQUESTS:
        return DeliveryUnknownError("Discord is asked too often just now.")
    reason = error.text.splitlines()[0] if error.text else ""
    return RefusedError(error.code, reason, is_about_token=error.status == _UNAUTHORIZED)


def is_transient(error: discord.HTTPException) -> bool:
    """Return whether the same call may succeed a little later."""
    return error.status == _TOO_MANY_REQUESTS or isinstance(error, discord.DiscordServerError)


def thread_error(error: discord.HTTPException, needed: str) -> Exception:
    """Return NoThreadError if a reply in a thread is impossible, else the error itself.

    `needed` names the permissions that the reply requires.
    """
    if error.code == NO_PERMISSION:
        return NoThreadError(f"I could not post all in the answer's thread: I need {needed}.")
    if error.code in _NO_THREAD:
        return NoThreadError(f"I could not post in the answer's thread: {_NO_THREAD[error.code]}.")
    return error


async def call_with_retries(
    call: Callable[[], Awaitable[T]], timeout_seconds: float = FOREVER
) -> T:
    """Make an idempotent call, and retry it while Discord cannot be reached."""

    async def attempt() -> T:
        with translate_errors():
            return await call()

    return await chat.retry_until_sent(attempt, timeout_seconds)


class EditRateLimiter:
    """Rate limiter for progress edits and other calls; leaves room for every coming answer.

    Discord limits edits per channel and calls per second; answers are never delayed.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._running: defaultdict[str, dict[str, float]] = defaultdict(dict)
        self._edits: defaultdict[str, deque[float]] = defaultdict(deque)
        self._answering_until = self._paced_until = clock()

    async def acquire_edit(self, channel: str, message: str) -> None:
        """Wait until a message may show its progress again."""
        while (seconds := max(self._edit_delay(channel, message), self._call_delay())) > 0:
            await self._sleep(seconds)
        self._edits[channel].append(self._clock())
        self._count_call()

    async def acquire_call(self) -> None:
        """Wait until a call that is not an answer may be made."""
        while (seconds := self._call_delay()) > 0:
            await self._sleep(seconds)
        self._count_call()

    def record_answer(self, channel: str, message: str) -> None:
        """Count the answer that a message receives now; it needs no more room afterwards."""
        now = self._clock()
        self._running[channel].pop(message, None)
        self._edits[channel].append(now)
        self._answering_until = now + ANSWER_SECONDS

    def _call_delay(self) -> float:
        """Return the seconds until a call fits between answers and into Discord's rate."""
        now = self._clock()
        return max(self._answering_until - now, self._paced_until - now - BURST_SECONDS, 0.0)

    def _count_call(self) -> None:
        self._paced_until = max(self._paced_until, self._clock()) + 1 / MAX_CALLS_PER_SECOND

    def _edit_delay(self, channel: str, message: str) -> float:
        """Return the seconds until a channel may have room for an edit; 0 if it has room now."""
        now, running, edits = self._clock(), self._running[channel], self._edits[channel]
        running[message] = now
        for other in [key for key, at in running.items() if now - at > MESSAGE_EXPIRY_SECONDS]:
            del running[other]
        while edits and now - edits[0] >= EDIT_WINDOW_SECONDS:
            edits.popleft()
        room = MAX_EDITS - len(running)  # one edit per running message is reserved for its answer
        if len(edits) < room:
            return 0.0
        return edits[-room] + EDIT_WINDOW_SECONDS - now if room > 0 else EDIT_WINDOW_SECONDS
