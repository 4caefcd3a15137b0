"""Errors of Discord translated into the chat's, retries, and the rate limiter of edits."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import TypeVar

import aiohttp
import discord
from aiolimiter import AsyncLimiter

from bot import chat
from bot.chat import DeliveryUnknownError, MessageGoneError, NoThreadError, PostingForbiddenError
from council.errors import CouncilError

T = TypeVar("T")

UNKNOWN_CHANNEL, UNKNOWN_GUILD, UNKNOWN_MESSAGE = 10003, 10004, 10008
TOO_MANY_OLD_EDITS = 30046  # of a message older than an hour
NO_ACCESS, NO_PERMISSION = 50001, 50013
UNKNOWN_WEBHOOK, INVALID_TOKEN = 10015, 50027  # of an interaction after 15 minutes
ARCHIVED, LOCKED, THREAD_EXISTS = 50083, 160005, 160004
WRONG_KIND, NOT_IN_DIRECT = 50024, 50003
_UNAUTHORIZED, _TOO_MANY_REQUESTS = 401, 429
_POSTING_FORBIDDEN = {
    UNKNOWN_CHANNEL: "the channel no longer exists",
    NO_ACCESS: "I cannot see the channel; I need View Channel there",
    NO_PERMISSION: "I need View Channel, Send Messages and Send Messages in Threads there",
    **dict.fromkeys((ARCHIVED, LOCKED), "the thread is archived or locked"),
    10013: "they no longer exist",
    **dict.fromkeys((50007, 50278), "they don't accept direct messages from me"),
}
_NO_THREAD = {
    UNKNOWN_CHANNEL: "it was deleted",
    **dict.fromkeys((ARCHIVED, LOCKED), "it is archived or locked"),
    WRONG_KIND: "this kind of channel has none",
    NOT_IN_DIRECT: "there are none in direct messages",
}


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
        reason = f"Discord has a problem right now ({error.status})."
        raise DeliveryUnknownError(reason) from None
    except discord.HTTPException as error:
        raise _translate(error) from None
    except discord.RateLimited as error:
        reason = f"Discord asks us to wait {error.retry_after:.0f} s."
        raise DeliveryUnknownError(reason) from None
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        reason = f"The connection to Discord was lost ({type(error).__name__})."
        raise DeliveryUnknownError(reason) from None


def _translate(error: discord.HTTPException) -> CouncilError:
    if error.code == UNKNOWN_MESSAGE:
        return MessageGoneError("The message no longer exists.")
    if error.code == TOO_MANY_OLD_EDITS:
        return MessageGoneError("The message is too old to edit.")
    if error.code in _POSTING_FORBIDDEN:
        return PostingForbiddenError(f"I can't post there: {_POSTING_FORBIDDEN[error.code]}.")
    if error.status == _TOO_MANY_REQUESTS:
        return DeliveryUnknownError("Discord is receiving too many requests from us right now.")
    reason = error.text.splitlines()[0] if error.text else ""
    return RefusedError(error.code, reason, is_about_token=error.status == _UNAUTHORIZED)


def is_transient(error: discord.HTTPException) -> bool:
    """Return whether the same call may succeed a little later."""
    return error.status == _TOO_MANY_REQUESTS or isinstance(error, discord.DiscordServerError)


def thread_error(error: discord.HTTPException, needed: str) -> Exception:
    """Return NoThreadError, naming the needed permissions, if no reply in a thread is possible."""
    if error.code == NO_PERMISSION:
        return NoThreadError(f"I couldn't post everything in the answer's thread: I need {needed}.")
    if error.code in _NO_THREAD:
        return NoThreadError(f"I couldn't post in the answer's thread: {_NO_THREAD[error.code]}.")
    return error


async def call_with_retries(call: Callable[[], Awaitable[T]], timeout_seconds: float = inf) -> T:
    """Make an idempotent call, and retry it while Discord cannot be reached."""

    async def attempt() -> T:
        with translate_errors():
            return await call()

    return await chat.retry_until_sent(attempt, timeout_seconds)


class EditRateLimiter:
    """Rate limiter for progress edits and posts, so that answers do not wait for them.

    Discord takes five edits in five seconds in a channel, and fifty calls a second.
    """

    def __init__(self) -> None:
        self._calls = AsyncLimiter(15, 0.5)
        self._edits = defaultdict[str, AsyncLimiter](lambda: AsyncLimiter(2, 5.0))  # by channel

    async def acquire_edit(self, channel: str) -> None:
        """Wait until a message of the channel may show its progress again."""
        await self._edits[channel].acquire()
        await self._calls.acquire()

    async def acquire_call(self) -> None:
        """Wait until a call that is not an answer may be made."""
        await self._calls.acquire()
