"""Calls of Slack's Web API: patient when asked too often, honest when an outcome is unknown."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from aiohttp import ClientConnectorError, ClientError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chat import UnreachableError, UnsureError
from council.errors import CouncilError

Done = TypeVar("Done")
Call = Callable[[], Awaitable[Done]]

TIMEOUT_SECONDS = 10  # of one call; the outbox's grace is longer
FOR_EVER = math.inf
_UNKNOWN_OUTCOMES = {
    "internal_error",
    "fatal_error",
    "service_unavailable",
    "request_timeout",
    "team_added_to_org",
}
# The same call would be taken again once the app is installed anew, or is granted more.
_ABOUT_TOKENS = {
    "invalid_auth",
    "not_authed",
    "account_inactive",
    "token_revoked",
    "token_expired",
    "not_allowed_token_type",
    "missing_scope",
    "no_permission",
    "app_uninstalled",
    "access_denied",
    "org_login_required",
    "ekm_access_denied",
    "team_access_not_granted",
}
_TOO_MANY, _SERVER_FAULT = 429, 500


class FaultError(UnsureError):
    """Slack said that it is at fault; what it was asked may be what it stumbles over."""


class RefusedError(CouncilError):
    """Slack answered that it does not do this; `code` is its word for why."""

    def __init__(self, code: str, needed: str = "") -> None:
        super().__init__(f"Slack refused: {code}{f' (it needs {needed})' if needed else ''}.")
        self.code = code

    @property
    def is_about_token(self) -> bool:
        """Say whether the fault is in what the app may do, not in what was asked."""
        return self.code in _ABOUT_TOKENS


async def called(call: Call[Done], patience_seconds: float = FOR_EVER) -> Done:
    """Give Slack's reply, waiting as long as it says that it is asked too often.

    Raises RefusedError for what it does not do, and for too little patience; UnreachableError where
    it was not reached, UnsureError where it may have been done and may not.
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
        except ClientConnectorError as error:
            raise UnreachableError(_lost(error)) from None
        # The SDK stumbles with the last two over replies that are no JSON object.
        except (ClientError, TimeoutError, OSError, AttributeError, ValueError) as error:
            raise UnsureError(_lost(error)) from None
        await asyncio.sleep(seconds)


def _lost(error: Exception) -> str:
    return f"The connection to Slack was lost ({type(error).__name__})."


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
        return FaultError(f"Slack is at fault itself just now ({reply.code or reply.status}).")
    return RefusedError(reply.code, reply.needed)
