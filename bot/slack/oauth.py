"""Slack's OAuth flow: Bolt's own, with states in the key-value store and pages in plain words."""

import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.response import BoltResponse
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore

from bot.context import AppContext
from bot.observability.logs import redirect_library_log
from bot.slack.client import RotatingClient
from bot.slack.config import INSTALL_PATH, REDIRECT_PATH, Tokens, load_manifest

if TYPE_CHECKING:
    from storage.installations import SqlInstallationStore

STATE = "slack state"  # the kind of memo
STATE_SECONDS = 600
_MAX_STATES = 1_000  # of installations that were begun and not finished
_STATE = re.compile(r"[\w-]{43}\Z", re.ASCII)

INSTALLED = "The council is installed"
NOT_INSTALLED = "The council was not installed"
_AGAIN = '<a href="install">Start again</a>.'
_REASONS = {
    "access_denied": "You cancelled it in Slack.",
    "invalid_browser": (
        "Open this page in the browser that started the installation, within ten minutes and "
        "over https."
    ),
    "invalid_state": "The link has expired or was used already.",
    "missing_code": "Slack sent no code.",
    "invalid_code": "Slack did not accept the code. It has expired or was used already.",
}


class StateStore(AsyncOAuthStateStore):
    """The states of begun installations: each is valid once, for ten minutes, in any process."""

    def __init__(self, app: AppContext) -> None:
        self._app = app

    async def async_issue(self, *_: object, **__: object) -> str:
        """Return a new state."""
        state = secrets.token_urlsafe(32)
        await self._app.key_values.put(STATE, state, str(self._now()))
        await self._app.key_values.prune(STATE, _MAX_STATES)
        return state

    async def async_consume(self, state: str) -> bool:
        """Return whether a state is valid; it is not after this."""
        issued = await self._app.key_values.pop(STATE, state) if _STATE.match(state) else None
        return issued is not None and self._now() - float(issued) <= STATE_SECONDS

    def _now(self) -> float:
        return self._app.now().timestamp()


def new_oauth_flow(
    app: AppContext,
    store: "SqlInstallationStore",
    client: RotatingClient,
    tokens: Tokens,
    on_installed: Callable[[Installation], Awaitable[None]],
) -> AsyncOAuthFlow:
    """Return Bolt's OAuth flow; `on_installed` is called after an installation was stored."""
    install_client = client.with_token("")
    # Safe to repeat: a call that was refused for its rate had no effect. After a lost connection
    # the code may be used up, so nothing else is repeated.
    install_client.retry_handlers = [AsyncRateLimitErrorRetryHandler(max_retry_count=2)]

    async def succeed(args: AsyncSuccessArgs) -> BoltResponse:
        await on_installed(args.installation)
        return _finished(args, installed_page(args.installation))

    async def fail(args: AsyncFailureArgs) -> BoltResponse:
        reason = _REASONS.get(args.reason, "Slack or this bot had a problem.")
        page = render_page(NOT_INSTALLED, f"{reason} {_AGAIN}")
        return _finished(args, page, args.suggested_status_code)

    settings = AsyncOAuthSettings(
        client_id=tokens.client_id,
        client_secret=tokens.client_secret,
        scopes=load_manifest()["oauth_config"]["scopes"]["bot"],
        user_scopes=[],
        redirect_uri=tokens.redirect_uri or None,
        install_path=INSTALL_PATH,
        redirect_uri_path=REDIRECT_PATH,
        install_page_rendering_enabled=False,  # Slack's own page says all there is to say
        callback_options=AsyncCallbackOptions(succeed, fail),
        authorization_url=urljoin(tokens.api_url, "../oauth/v2/authorize"),
        installation_store=store,
        state_store=StateStore(app),
        state_expiration_seconds=STATE_SECONDS,
    )
    logger = redirect_library_log(__name__, logging.ERROR, "slack_trouble")
    return AsyncOAuthFlow(client=install_client, logger=logger, settings=settings)


def installed_page(installation: Installation) -> str:
    """Return the page after an installation, with a link that opens Slack."""
    where = installation.team_name or installation.enterprise_name
    link = f"https://slack.com/app_redirect?app={quote(installation.app_id or '')}"
    if installation.team_id:
        link += f"&team={quote(installation.team_id)}"
    text = (
        f"It is ready in {escape(where or 'your workspace')}: "
        f'<a href="{escape(link)}">open Slack</a>, type <code>/council</code> and your question.'
    )
    return render_page(INSTALLED, text)


def render_page(title: str, text: str) -> str:
    """Return a page; `text` is HTML, its untrusted parts escaped."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="stylesheet" href="../static/council.css">'
        f'<main class="front"><h1>{escape(title)}</h1><p>{text}</p></main></html>\n'
    )


def _finished(
    args: AsyncSuccessArgs | AsyncFailureArgs, page: str, status: int = 200
) -> BoltResponse:
    """Return a page that also deletes the cookie of the state."""
    headers: dict[str, str | Sequence[str]] = {
        "Content-Type": "text/html; charset=utf-8",
        "Set-Cookie": args.settings.state_utils.build_set_cookie_for_deletion(),
    }
    return BoltResponse(status=status, body=page, headers=headers)
