"""What Discord refuses, as what it means for a message."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import aiohttp
import discord

from bot.chat import GoneError, UnsureError, UnwelcomeError
from council.errors import CouncilError

Given = TypeVar("Given")

UNKNOWN_CHANNEL, UNKNOWN_MESSAGE = 10003, 10008
NO_ACCESS, NO_PERMISSION = 50001, 50013
ARCHIVED, THREAD_THERE = 50083, 160004
SYSTEM_MESSAGE = 50021
_UNWELCOME = {
    UNKNOWN_CHANNEL: "the channel is not there any more",
    NO_ACCESS: "I cannot see the channel; I need View Channel there",
    NO_PERMISSION: "I need View Channel, Send Messages and Send Messages in Threads there",
    ARCHIVED: "the thread is archived and locked",
    50007: "they take no direct messages from me",
    50278: "they take no direct messages from me",
}
_EXPIRED = {10015, 10062, 50027}


class RefusedError(CouncilError):
    """Discord answered that it does not do this; `code` is its number for why."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(f"Discord refused: {words or code}.")
        self.code = code


@contextmanager
def told() -> Iterator[None]:
    """Raise what Discord answered as an error of ours."""
    try:
        yield
    except discord.DiscordServerError as error:
        raise UnsureError(f"Discord is at fault itself just now ({error.status}).") from None
    except discord.HTTPException as error:
        raise _meaning(error) from None
    except discord.RateLimited as error:
        raise UnsureError(
            f"Discord wants to be left alone for {error.retry_after:.0f} s."
        ) from None
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        lost = f"The connection to Discord was lost ({type(error).__name__})."
        raise UnsureError(lost) from None


def is_expired(error: discord.HTTPException) -> bool:
    """Say whether an interaction's token is good no more."""
    return error.code in _EXPIRED


def _meaning(error: discord.HTTPException) -> CouncilError:
    if error.code == UNKNOWN_MESSAGE:
        return GoneError("The message is not there any more.")
    if error.code in _UNWELCOME:
        return UnwelcomeError(f"I cannot post there: {_UNWELCOME[error.code]}.")
    if error.status == 429:  # noqa: PLR2004
        return UnsureError("Discord is asked too often just now.")
    return RefusedError(error.code, error.text.splitlines()[0] if error.text else "")


async def insisted(
    call: Callable[[], Awaitable[Given]], sleep: Callable[[float], Awaitable[object]]
) -> Given:
    """Make a call that does no harm when it is made twice, through lost connections."""
    for seconds in (1.0, 2.0, 5.0, 10.0, 20.0, 30.0):
        try:
            with told():
                return await call()
        except UnsureError:
            await sleep(seconds)
    with told():
        return await call()
