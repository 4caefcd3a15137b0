"""Calls of Slack's Web API: patient when asked too often, honest when an outcome is unknown."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chat import UnsureError
from council.errors import CouncilError

Call = Callable[[], Awaitable[AsyncSlackResponse]]

TIMEOUT_SECONDS = 10  # of one call; the outbox's grace is longer
_PAUSES = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
_UNKNOWN_OUTCOMES = {
    "internal_error",
    "fatal_error",
    "service_unavailable",
    "request_timeout",
}
_TOO_MANY, _SERVER_FAULT = 429, 500


class RefusedError(CouncilError):
    """Slack answered that it does not do this; `code` is its word for why."""

    def __init__(self, code: str, needed: str = "") -> None:
        super().__init__(f"Slack refused: {code}{f' (it needs {needed})' if needed else ''}.")
        self.code = code


async def called(call: Call, patience_seconds: float = 3600.0) -> AsyncSlackResponse:
    """Give Slack's reply, waiting as long as it says that it is asked too often.

    Raises RefusedError for what it does not do, and for too little patience; UnsureError where it
    may have been done and may not.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + patience_seconds
    while True:
        try:
            return await call()
        except SlackApiError as error:
            reply = _reply_of(error)
            seconds = _pause(reply)
            if seconds is None or loop.time() + seconds > until:
                raise _told(reply) from None
        # The SDK stumbles with the last two over replies that are no JSON object.
        except (ClientError, TimeoutError, OSError, AttributeError, ValueError) as error:
            lost = f"The connection to Slack was lost ({type(error).__name__})."
            raise UnsureError(lost) from None
        await asyncio.sleep(seconds)


async def insisted(call: Call) -> AsyncSlackResponse:
    """Give the reply to a call that may be made twice, through lost connections."""
    for seconds in _PAUSES:
        try:
            return await called(call)
        except UnsureError:
            await asyncio.sleep(seconds)
    return await called(call)


@dataclass(frozen=True, slots=True)
class _Reply:
    """What a failed call came back with, whichever shape the SDK gives it."""

    code: str
    status: int
    retry_after: str = ""
    needed: str = ""


def _reply_of(error: SlackApiError) -> _Reply:
    found = error.response
    if not isinstance(found, AsyncSlackResponse):  # a body that is no JSON
        return _Reply("", int(getattr(found, "status", 0)))
    told = found.data if isinstance(found.data, dict) else {}
    again = str(found.headers.get("Retry-After", ""))
    code, needed = str(told.get("error") or ""), str(told.get("needed") or "")
    return _Reply(code, int(found.status_code), again, needed)


def _pause(reply: _Reply) -> float | None:
    """Give how long Slack wants to be left alone; None if it said something else."""
    if reply.code not in {"ratelimited", "rate_limited"} and reply.status != _TOO_MANY:
        return None
    try:
        return max(0.05, float(reply.retry_after))
    except ValueError:
        return 1.0


def _told(reply: _Reply) -> CouncilError:
    if reply.status >= _SERVER_FAULT or not reply.code or reply.code in _UNKNOWN_OUTCOMES:
        return UnsureError(f"Slack is at fault itself just now ({reply.code or reply.status}).")
    return RefusedError(reply.code, reply.needed)
