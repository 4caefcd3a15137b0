"""Slack Web API client: retries, cursor pagination, error mapping, rate limiter, preflight.

It raises DeliveryUnknownError whenever a call may or may not have taken effect.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, TypeVar

import aiohttp
from aiohttp import ClientConnectorError, ClientError
from aiolimiter import AsyncLimiter
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chat import ChatUnreachableError, DeliveryUnknownError
from council.errors import CouncilError

T = TypeVar("T")
Call = Callable[[], Awaitable[T]]

PAGE_SIZE, MAX_PAGES = 200, 25
MAX_ITEMS = PAGE_SIZE * MAX_PAGES  # of a list that are read at most
TIMEOUT_SECONDS = 10  # of one call; the outbox waits longer before it sends again
_RATE_LIMITED = {"ratelimited", "rate_limited"}
_UNKNOWN_OUTCOMES = {
    "internal_error",
    "fatal_error",
    "service_unavailable",
    "request_timeout",
    "team_added_to_org",
}
# Errors of a token that a retry cannot fix.
FINAL_TOKEN_ERRORS = {
    "invalid_auth",
    "not_authed",
    "account_inactive",
    "token_revoked",
    "token_expired",
    "not_allowed_token_type",
    "missing_scope",
    "app_uninstalled",
}
# The same call would succeed once the app is reinstalled or has more permissions.
_TOKEN_ERRORS = FINAL_TOKEN_ERRORS | {
    "no_permission",
    "access_denied",
    "org_login_required",
    "ekm_access_denied",
    "team_access_not_granted",
}
_TOO_MANY_REQUESTS, _SERVER_ERROR = 429, 500


class SlackServerError(DeliveryUnknownError):
    """Slack reported an error on its side, perhaps caused by what the request contained."""


class RefusedError(CouncilError):
    """Slack refused a call; `code` is the error code of its reply."""

    def __init__(self, code: str, needed: str = "") -> None:
        super().__init__(f"Slack refused: {code}{f' (it needs {needed})' if needed else ''}.")
        self.code = code

    @property
    def is_about_token(self) -> bool:
        """Return whether the app lacks a valid token or permission for the call."""
        return self.code in _TOKEN_ERRORS


class RateLimitedError(RefusedError):
    """Slack takes no such call for some seconds."""

    def __init__(self, code: str, seconds: float) -> None:
        super().__init__(code)
        self.seconds = seconds


@asynccontextmanager
async def open_client(
    api_url: str, bot_token: str | None = None, seconds: float = TIMEOUT_SECONDS
) -> AsyncIterator["RotatingClient"]:
    """Yield a client of Slack's Web API; without a token, for the few calls that need none."""
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        yield RotatingClient(
            token=bot_token,
            base_url=api_url,
            timeout=TIMEOUT_SECONDS,
            session=session,
            retry_handlers=[],  # the SDK's own would send a message twice
        )


class RotatingClient(AsyncWebClient):
    """A client whose token may expire: `refresh` replaces it when `refresh_at` has come."""

    refresh_at = inf
    refresh: Callable[[], Awaitable[None]]

    def with_token(self, token: str, team: str | None = None) -> "RotatingClient":
        """Return a client with another token, over the same connections.

        An organisation's token needs the `team` that its calls are about.
        """
        return RotatingClient(
            token=token,
            base_url=self.base_url,
            timeout=self.timeout,
            session=self.session,
            retry_handlers=[],
            team_id=team,
        )

    async def api_call(self, api_method: str, **arguments: Any) -> AsyncSlackResponse:  # noqa: ANN401
        """Call a method, with a new token if the old one expires soon."""
        if time.time() >= self.refresh_at:
            await self.refresh()
        return await super().api_call(api_method, **arguments)


async def call_api(call: Call[T], max_wait_seconds: float = inf) -> T:
    """Return Slack's reply to a call, retrying when rate limited, as late as Retry-After says.

    Raise RefusedError if Slack refuses the call; RateLimitedError if it would make us wait longer
    in all than `max_wait_seconds`; ChatUnreachableError if Slack was not reached;
    DeliveryUnknownError if the call may have taken effect.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + max_wait_seconds
    while True:
        try:
            return await call()
        except SlackApiError as error:
            seconds = _retry_after_seconds(error)
            if seconds is None:
                raise _map_error(error) from None
            if loop.time() + seconds > deadline:
                code, _ = _code_and_status(error)
                raise RateLimitedError(code or "ratelimited", seconds) from None
        # The SDK raises the last two for replies that are not JSON objects.
        except (ClientError, TimeoutError, OSError, AttributeError, ValueError) as error:
            why = f"The connection to Slack was lost ({type(error).__name__})."
            if isinstance(error, ClientConnectorError):
                raise ChatUnreachableError(why) from None
            raise DeliveryUnknownError(why) from None
        await asyncio.sleep(seconds)


async def list_items(
    method: Callable[..., Awaitable[AsyncSlackResponse]],
    key: str,
    max_wait_seconds: float = inf,
    **params: object,
) -> AsyncIterator[dict[str, Any]]:
    """Yield the items of a list method, page by page; raise what `call_api` raises."""
    for _ in range(MAX_PAGES):
        reply = await call_api(partial(method, limit=PAGE_SIZE, **params), max_wait_seconds)
        for item in reply.get(key) or ():
            yield item
        params["cursor"] = (reply.get("response_metadata") or {}).get("next_cursor")
        if not params["cursor"]:
            return


def _retry_after_seconds(error: SlackApiError) -> float | None:
    """Return how long Slack asks us to wait; None if the call was not rate limited."""
    code, status = _code_and_status(error)
    if code not in _RATE_LIMITED and status != _TOO_MANY_REQUESTS:
        return None
    try:
        return max(0.05, float(error.response.headers.get("Retry-After", "")))
    except ValueError:
        return 1.0


def _map_error(error: SlackApiError) -> CouncilError:
    code, status = _code_and_status(error)
    if status >= _SERVER_ERROR or not code or code in _UNKNOWN_OUTCOMES:
        return SlackServerError(f"Slack has a problem right now ({code or status}).")
    return RefusedError(code, str(error.response.data.get("needed") or ""))


def _code_and_status(error: SlackApiError) -> tuple[str, int]:
    response = error.response
    if not isinstance(response, AsyncSlackResponse):  # the body was not JSON
        return "", int(getattr(response, "status", 0))
    data = response.data if isinstance(response.data, dict) else {}
    return str(data.get("error") or ""), int(response.status_code)


# Slack allows about 50 edits a minute in a workspace. Progress takes at most 40 of any minute:
# a burst, and then a steady rate.
_EDIT_BURST, _EDITS_PER_MINUTE = 4, 36


# Of the burst that a channel takes, replies leave this many posts to new rounds.
_KEPT_FOR_FIRST_POSTS = 2


class EditRateLimiter:
    """Rate limiter for the edits of one workspace: answers go first, progress updates wait."""

    def __init__(self) -> None:
        self._limiter = AsyncLimiter(_EDIT_BURST, 60 * _EDIT_BURST / _EDITS_PER_MINUTE)
        self._answers = 0
        self._no_answer = asyncio.Event()
        self._no_answer.set()

    @asynccontextmanager
    async def prioritize(self) -> AsyncIterator[None]:
        """Hold back all progress updates for the duration of the block."""
        self._answers += 1
        self._no_answer.clear()
        try:
            yield
        finally:
            self._answers -= 1
            if not self._answers:
                self._no_answer.set()

    async def acquire(self) -> None:
        """Wait until another progress update may be sent."""
        while True:
            await self._no_answer.wait()
            await self._limiter.acquire()
            if self._no_answer.is_set():
                return


class PostRateLimiter:
    """Rate limiter for the posts of one channel: first messages go before replies."""

    def __init__(self, burst: int, posts_a_second: float) -> None:
        for_replies = max(1, burst - _KEPT_FOR_FIRST_POSTS)
        self._all = AsyncLimiter(burst, burst / posts_a_second)
        self._replies = AsyncLimiter(for_replies, for_replies / posts_a_second)
        self._turn = asyncio.Lock()

    async def acquire(self, *, is_reply: bool) -> None:
        """Wait until another post may be sent."""
        if not is_reply:
            await self._all.acquire()
            return
        async with self._turn:  # one reply at a time competes with first messages
            await self._replies.acquire()
            await self._all.acquire()


REQUIRED_SCOPES = ("chat:write", "commands")
# What does not work without a scope.
FEATURES_BY_SCOPE = {
    "app_mentions:read": "mentions are not received",
    "channels:history": "threads of channels are not read",
    "channels:read": "channels shared with other organisations look like ordinary ones",
    "files:read": "files are not read",
    "files:write": "no files are sent",
    "groups:history": "threads of private channels are not read",
    "groups:read": "private channels look like public ones, so all count as private",
    "im:history": "direct messages are not received",
    "im:write": "private answers are not possible",
    "users:read": "guests look like members, and names are not shown",
}
_BOT_AUTH_FAILED = (
    "SLACK_BOT_TOKEN does not work ({code}). Copy the Bot User OAuth Token again; it starts "
    "with xoxb-."
)
_REINSTALL = "add it under OAuth & Permissions and install the app again"


class SlackError(CouncilError):
    """Slack cannot be started or continued; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The workspace and bot user of a token; `scopes` is empty if Slack did not list them."""

    team: str
    team_name: str
    user: str
    user_name: str
    bot: str
    scopes: frozenset[str]

    @property
    def faults(self) -> list[str]:
        """Return a sentence for each required scope that is missing."""
        return [
            f"The scope {scope} is missing: {_REINSTALL}."
            for scope in self._missing(REQUIRED_SCOPES)
        ]

    @property
    def warnings(self) -> list[str]:
        """Return a sentence for each feature that does not work because its scope is missing."""
        return [
            f"Slack: {FEATURES_BY_SCOPE[scope]}: {scope} is missing; {_REINSTALL}."
            for scope in self._missing(FEATURES_BY_SCOPE)
        ]

    def _missing(self, scopes: Iterable[str]) -> list[str]:
        return [scope for scope in scopes if self.scopes and scope not in self.scopes]


async def fetch_identity(client: AsyncWebClient) -> Identity:
    """Return the workspace and bot user of the client's token; SlackError if it does not work.

    Raise DeliveryUnknownError if Slack cannot be reached or limits the rate.
    """
    try:
        reply = await _call_preflight(client.auth_test)
    except RefusedError as error:
        raise SlackError(_BOT_AUTH_FAILED.format(code=error.code)) from None
    if not reply.get("bot_id"):  # a user token, or the app-level token
        raise SlackError(_BOT_AUTH_FAILED.format(code="it is not a bot token"))
    granted = reply.headers.get("x-oauth-scopes", "")
    scopes = frozenset(scope.strip() for scope in granted.split(",") if scope.strip())
    keys = ("team_id", "team", "user_id", "user", "bot_id")
    team, team_name, user, user_name, bot = (str(reply.get(key) or "") for key in keys)
    return Identity(team, team_name, user, user_name, bot, scopes)


async def check_app_token(client: AsyncWebClient, token: str) -> None:
    """Raise SlackError if the app-level token cannot open a socket."""
    try:
        await _call_preflight(partial(client.apps_connections_open, app_token=token))
    except RefusedError as error:
        needed = ", with the scope connections:write" if error.code == "missing_scope" else ""
        raise SlackError(
            f"SLACK_APP_TOKEN does not work ({error.code}). Create an App-Level Token{needed}, "
            "which starts with xapp-, and switch on Socket Mode."
        ) from None


async def _call_preflight(call: Call[AsyncSlackResponse]) -> AsyncSlackResponse:
    """Make a call; a rate limit is worth a retry, because it says nothing about the token."""
    try:
        return await call_api(call, 30.0)
    except RefusedError as error:
        if error.code in _RATE_LIMITED:
            raise DeliveryUnknownError(
                "Slack is receiving too many requests from us right now."
            ) from None
        raise
