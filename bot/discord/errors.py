"""What Discord refuses, as what it means for a message."""

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

# --- What Discord refuses, as what it means for a message.

Given = TypeVar("Given")

UNKNOWN_CHANNEL, UNKNOWN_GUILD, UNKNOWN_MESSAGE = 10003, 10004, 10008
NO_ACCESS, NO_PERMISSION = 50001, 50013
ARCHIVED, LOCKED, THREAD_THERE = 50083, 160005, 160004
WRONG_KIND, NOT_IN_DIRECT = 50024, 50003
_LOCKED_WORDS = "the thread is archived or locked"
_UNWELCOME = {
    UNKNOWN_CHANNEL: "the channel is not there any more",
    NO_ACCESS: "I cannot see the channel; I need View Channel there",
    NO_PERMISSION: "I need View Channel, Send Messages and Send Messages in Threads there",
    ARCHIVED: _LOCKED_WORDS,
    LOCKED: _LOCKED_WORDS,
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
_NO_TOKEN, _TOO_OFTEN = 401, 429
FOR_EVER = math.inf


class RefusedError(CouncilError):
    """Discord answered that it does not do this; `code` is its number for why."""

    def __init__(self, code: int, words: str, *, is_about_token: bool = False) -> None:
        super().__init__(f"Discord refused: {words or code}.")
        self.code = code
        self.is_about_token = is_about_token


@contextmanager
def told() -> Iterator[None]:
    """Raise what Discord answered as an error of ours."""
    try:
        yield
    except discord.DiscordServerError as error:
        raise DeliveryUnknownError(
            f"Discord is at fault itself just now ({error.status})."
        ) from None
    except discord.HTTPException as error:
        raise _meaning(error) from None
    except discord.RateLimited as error:
        raise DeliveryUnknownError(
            f"Discord wants to be left alone for {error.retry_after:.0f} s."
        ) from None
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        lost = f"The connection to Discord was lost ({type(error).__name__})."
        raise DeliveryUnknownError(lost) from None


def is_passing(error: discord.HTTPException) -> bool:
    """Say whether a call that was answered so may be answered otherwise a little later."""
    return error.status == _TOO_OFTEN or isinstance(error, discord.DiscordServerError)


def threadless(error: discord.HTTPException, needed: str) -> Exception:
    """Give what is in the way of a reply in a thread: a permission, the thread, anything else."""
    if error.code == NO_PERMISSION:
        return NoThreadError(f"I could not post all in the answer's thread: I need {needed}.")
    if error.code in _NO_THREAD:
        return NoThreadError(f"I could not post in the answer's thread: {_NO_THREAD[error.code]}.")
    return error


def _meaning(error: discord.HTTPException) -> CouncilError:
    if error.code == UNKNOWN_MESSAGE:
        return MessageGoneError("The message is not there any more.")
    if error.code in _UNWELCOME:
        return PostingForbiddenError(f"I cannot post there: {_UNWELCOME[error.code]}.")
    if error.status == _TOO_OFTEN:
        return DeliveryUnknownError("Discord is asked too often just now.")
    words = error.text.splitlines()[0] if error.text else ""
    return RefusedError(error.code, words, is_about_token=error.status == _NO_TOKEN)


async def insisted(
    call: Callable[[], Awaitable[Given]], patience_seconds: float = FOR_EVER
) -> Given:
    """Make a call that does no harm when it is made twice, through lost connections."""

    async def once() -> Given:
        with told():
            return await call()

    return await chat.retry_until_sent(once, patience_seconds)


# --- Who goes first to Discord: answers at once, all else with the room they leave.

MOST, WINDOW_SECONDS = 5, 5.0
A_SECOND, BURST_SECONDS = 30, 0.5
ANSWER_SECONDS = 0.2  # what an answer is given before anything else is sent
FORGOTTEN_SECONDS = 30.0  # who shows nothing for so long is not under way any more


class EditRateLimiter:
    """Lets by what is no answer where every answer to come has room."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._running: defaultdict[str, dict[str, float]] = defaultdict(dict)
        self._made: defaultdict[str, deque[float]] = defaultdict(deque)
        self._answering_until = self._paced_at = clock()

    async def turn(self, channel: str, message: str) -> None:
        """Wait until another sight of progress may be shown in a message of a channel."""
        while (seconds := max(self._wait(channel, message), self._pause())) > 0:
            await self._sleep(seconds)
        self._made[channel].append(self._clock())
        self._count()

    async def room(self) -> None:
        """Wait until a call may be made that brings no answer."""
        while (seconds := self._pause()) > 0:
            await self._sleep(seconds)
        self._count()

    def answered(self, channel: str, message: str) -> None:
        """Take note that a message gets its answer now, and needs no room any more."""
        now = self._clock()
        self._running[channel].pop(message, None)
        self._made[channel].append(now)
        self._answering_until = now + ANSWER_SECONDS

    def _pause(self) -> float:
        """Give the seconds for which answers are let by, and Discord is not asked too much."""
        now = self._clock()
        return max(self._answering_until - now, self._paced_at - now - BURST_SECONDS, 0.0)

    def _count(self) -> None:
        self._paced_at = max(self._paced_at, self._clock()) + 1 / A_SECOND

    def _wait(self, channel: str, message: str) -> float:
        """Give the seconds until there may be room in a channel; 0 where there is."""
        now, running, made = self._clock(), self._running[channel], self._made[channel]
        running[message] = now
        for other in [key for key, at in running.items() if now - at > FORGOTTEN_SECONDS]:
            del running[other]
        while made and now - made[0] >= WINDOW_SECONDS:
            made.popleft()
        room = MOST - len(running)
        if len(made) < room:
            return 0.0
        return made[-room] + WINDOW_SECONDS - now if room > 0 else WINDOW_SECONDS
