"""Calls of Slack's Web API: patient when asked too often, honest when an outcome is unknown."""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

import aiohttp
import structlog
from aiohttp import ClientConnectorError, ClientError
from aiolimiter import AsyncLimiter
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chat import ChatUnreachableError, DeliveryUnknownError
from council.errors import CouncilError

# --- Calls of Slack's Web API: patient when asked too often, honest when an outcome is unknown.

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


class SlackServerError(DeliveryUnknownError):
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

    Raises RefusedError for what it does not do, and on timeouts; ChatUnreachableError where
    it was not reached, DeliveryUnknownError where it may have been done and may not.
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
            raise ChatUnreachableError(_lost(error)) from None
        # The SDK stumbles with the last two over replies that are no JSON object.
        except (ClientError, TimeoutError, OSError, AttributeError, ValueError) as error:
            raise DeliveryUnknownError(_lost(error)) from None
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
        return SlackServerError(
            f"Slack is at fault itself just now ({reply.code or reply.status})."
        )
    return RefusedError(reply.code, reply.needed)


# --- The client of Slack's Web API, open for as long as it is used.


@asynccontextmanager
async def opened_client(
    api_url: str, bot_token: str | None = None, seconds: float = TIMEOUT_SECONDS
) -> AsyncIterator[AsyncWebClient]:
    """Give a client of Slack's Web API; without a token, for the few calls that need none."""
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        yield AsyncWebClient(
            token=bot_token,
            base_url=api_url,
            timeout=TIMEOUT_SECONDS,
            session=session,
            retry_handlers=[],  # the SDK's own would send a message twice
        )


# --- Who edits next in a workspace: answers at once, sights of progress with what room they leave

# Slack allows about 50 edits a minute in a workspace. Of progress, no minute sees more than 40: so
# many at once, and so many after each other.
AT_ONCE, A_MINUTE = 4, 36


class EditRateLimiter:
    """Lets sights of progress by at a steady pace, and none while an answer waits."""

    def __init__(self) -> None:
        self._pace = AsyncLimiter(AT_ONCE, 60 * AT_ONCE / A_MINUTE)
        self._answers = 0
        self._free = asyncio.Event()
        self._free.set()

    @asynccontextmanager
    async def first(self) -> AsyncIterator[None]:
        """Go before all progress, as long as the block lasts."""
        self._answers += 1
        self._free.clear()
        try:
            yield
        finally:
            self._answers -= 1
            if not self._answers:
                self._free.set()

    async def turn(self) -> None:
        """Wait until another sight of progress may be shown."""
        while True:
            await self._free.wait()
            await self._pace.acquire()
            if self._free.is_set():
                return


# --- Before Slack is started: whether its tokens work, and what they allow.

PATIENCE_SECONDS = 30.0
NEEDED = ("chat:write", "commands")
# What does not work without a scope.
FEATURES = {
    "app_mentions:read": "mentions are not heard",
    "channels:history": "threads of channels are not read",
    "channels:read": "channels shared with others cannot be told from ordinary ones",
    "files:read": "files of questions are not read",
    "files:write": "no files are posted",
    "groups:history": "threads of private channels are not read",
    "groups:read": "private channels cannot be told from others, and count as private",
    "im:history": "direct messages are not heard",
    "im:write": "no answer can be had for oneself alone",
    "users:read": "guests cannot be told from members, and names are not shown",
}
COPY_ANEW = (
    "SLACK_BOT_TOKEN does not work ({code}): copy the Bot User OAuth Token, which begins with "
    "xoxb-, anew."
)
REINSTALL = "add it under OAuth & Permissions and install the app again"


class SlackError(CouncilError):
    """Slack cannot be started, or cannot go on; says what to do."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot token is: a workspace, a bot in it, and what it was granted, if Slack said so."""

    team: str
    team_name: str
    user: str
    user_name: str
    bot: str
    scopes: frozenset[str]

    @property
    def faults(self) -> list[str]:
        """Say which scopes are missing without which nothing works."""
        return [f"The scope {scope} is missing: {REINSTALL}." for scope in self._without(NEEDED)]

    @property
    def warnings(self) -> list[str]:
        """Say what does not work for want of a scope."""
        return [
            f"Slack: {FEATURES[scope]}: {scope} is missing; {REINSTALL}."
            for scope in self._without(FEATURES)
        ]

    def _without(self, scopes: Iterable[str]) -> list[str]:
        return [scope for scope in scopes if self.scopes and scope not in self.scopes]


async def identity(client: AsyncWebClient) -> Identity:
    """Give who the bot token is; SlackError for one that does not work, or is no bot's.

    Raises DeliveryUnknownError where Slack cannot be reached, or is asked too often.
    """
    try:
        reply = await called(lambda: client.auth_test(), PATIENCE_SECONDS)
    except RefusedError as error:
        raise _not_now(error) or SlackError(COPY_ANEW.format(code=error.code)) from None
    if not reply.get("bot_id"):  # a person's token, or the app's own
        raise SlackError(COPY_ANEW.format(code="it is no bot's"))
    granted = reply.headers.get("x-oauth-scopes", "")
    scopes = frozenset(scope.strip() for scope in granted.split(",") if scope.strip())
    return Identity(
        team=str(reply.get("team_id") or ""),
        team_name=str(reply.get("team") or ""),
        user=str(reply.get("user_id") or ""),
        user_name=str(reply.get("user") or ""),
        bot=str(reply["bot_id"]),
        scopes=scopes,
    )


async def check_app_token(client: AsyncWebClient, token: str) -> None:
    """Raise SlackError if the app token opens no socket; DeliveryUnknownError as above."""
    try:
        await called(lambda: client.apps_connections_open(app_token=token), PATIENCE_SECONDS)
    except RefusedError as error:
        needed = ", with the scope connections:write" if error.code == "missing_scope" else ""
        raise _not_now(error) or SlackError(
            f"SLACK_APP_TOKEN does not work ({error.code}): make an App-Level Token{needed}, which "
            "begins with xapp-, and switch on Socket Mode."
        ) from None


def _not_now(error: RefusedError) -> DeliveryUnknownError | None:
    """Tell a refusal that says nothing of the token, and is worth another try later."""
    passing = error.code in {"ratelimited", "rate_limited"}
    return DeliveryUnknownError("Slack is asked too often just now.") if passing else None


# --- What Slack's own libraries complain of, in our log: one line, no address, nobody's words.


class _ToLog(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Write what went wrong, without the details: an address is a secret, a body is a text."""
        what = record.getMessage().partition(":")[0].partition(" (")[0]
        fault = record.exc_info[0] if record.exc_info else None
        name = fault.__name__ if fault else ""
        structlog.get_logger().warning("slack_trouble", what=what, fault=name)


def sdk_logger(name: str, level: int) -> logging.Logger:
    """Give a logger for a library that tells our log what is as bad as this level, or worse."""
    logger = logging.getLogger(name)
    logger.setLevel(level)
    logger.handlers, logger.propagate = [_ToLog()], False
    return logger
