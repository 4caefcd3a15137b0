"""Slack app: preflight, then Bolt over Socket Mode or HTTP, reconnected until uninstalled."""

import asyncio
import hmac
import logging
import re
import time
from collections.abc import Callable, Mapping
from html import escape

from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.internals import parse_body
from slack_sdk.errors import SlackApiError
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from bot.chats import ChatRoute, RunningChat
from bot.commands.recovery import ChatSupervisor
from bot.context import AppContext
from bot.coordination.tasks import run_until_first
from bot.observability.logs import log_unexpected_error, redirect_library_log
from bot.render.formatting import count_noun
from bot.slack.client import (
    FINAL_TOKEN_ERRORS,
    Identity,
    SlackError,
    check_app_token,
    fetch_identity,
    open_client,
)
from bot.slack.config import EVENTS_PATH, INSTALL_PATH, REDIRECT_PATH, Tokens
from bot.slack.history import HistoryLimit
from bot.slack.installations import UNINSTALLED_FROM, Installations
from bot.slack.listeners import SlackListeners
from bot.slack.middleware import new_bolt
from bot.slack.oauth import NOT_INSTALLED, new_oauth_flow, render_page
from bot.slack.workspace import CHAT, DEFAULT_LIMITS, SlackLimits, Workspace
from council.errors import CouncilError, StoreError
from storage.installations import SqlInstallationStore

MAX_SIGNATURE_AGE_SECONDS = 300
MAX_EVENT_BYTES = 1_000_000


class Slack(RunningChat):
    """Slack from start to stop; `report` receives each change of its state as a sentence."""

    def __init__(
        self,
        app_context: AppContext,
        tokens: Tokens,
        report: Callable[[str], None],
        limits: SlackLimits = DEFAULT_LIMITS,
    ) -> None:
        self._app_context = app_context
        self._tokens = tokens
        self._supervisor = ChatSupervisor("Slack", report)
        self._report = report
        self._limits = limits
        self._handler: AsyncSlackRequestHandler | None = None

    async def run(self) -> None:
        """Serve until cancelled, or until a token stops working, which is reported."""
        await self._supervisor.serve(self._serve)

    @property
    def routes(self) -> list[ChatRoute]:
        """Return the routes of Slack's events and of installations."""
        return [
            ChatRoute(
                EVENTS_PATH,
                self.handle_http,
                ("POST",),
                max_bytes=MAX_EVENT_BYTES,
                is_limited=False,
            ),
            *(ChatRoute(path, self.handle_install) for path in (INSTALL_PATH, REDIRECT_PATH)),
        ]

    async def handle_http(self, request: Request) -> Response:
        """Handle an HTTP request from Slack; refuse one that Slack did not sign."""
        # Over a socket nothing is posted here, and there may be no secret to check it with.
        if self._handler is None or self._tokens.app:
            return PlainTextResponse("Slack is not connected yet.\n", status_code=503)
        body = await request.body()
        if not _is_signed(body, request.headers, self._tokens.signing):
            return PlainTextResponse("Only Slack is heard here.\n", status_code=401)
        if not _is_object(body, request.headers.get("content-type", "")):
            return PlainTextResponse("This is not what Slack sends.\n", status_code=400)
        return await self._handler.handle(request)

    async def handle_install(self, request: Request) -> Response:
        """Handle a browser that installs the app; no error shows more than a sentence."""
        if self._handler is None or not self._tokens.is_distributed:
            page = render_page(
                NOT_INSTALLED, ("Slack is not set up for this, or not connected yet.")
            )
            return HTMLResponse(page, status_code=503)
        try:
            return await self._handler.handle(request)
        except CouncilError as error:
            sentence = str(error)
        # The outermost handler of these pages.
        except Exception as error:  # noqa: BLE001
            sentence = log_unexpected_error("slack_installation_failed", error)
        return HTMLResponse(render_page(NOT_INSTALLED, escape(sentence)), status_code=503)

    @property
    def is_ready(self) -> bool:
        """Return whether requests from Slack can be handled; over a socket, there are none."""
        return bool(self._tokens.app) or self._handler is not None

    async def _serve(self) -> None:
        tokens, app = self._tokens, self._app_context
        store = app.parts.find(SqlInstallationStore)
        is_distributed = tokens.is_distributed and store is not None
        bot_token = "" if is_distributed else tokens.bot
        async with open_client(tokens.api_url, bot_token, self._limits.timeout_seconds) as client:
            me = None if is_distributed else await fetch_identity(client)
            if me and me.faults:
                raise SlackError(" ".join(me.faults))
            if tokens.app:
                await check_app_token(client, tokens.app)
            keys = {"client_id": tokens.client_id, "client_secret": tokens.client_secret}
            rotator = AsyncTokenRotator(**keys, client=client) if is_distributed else None
            installations = Installations(app, client, self._limits, self._report, rotator)
            flow = None
            if me:
                installations.connected[me.team] = Workspace(
                    client,
                    team=me.team,
                    bot_user=me.user,
                    scopes=me.scopes,
                    limits=self._limits,
                    bot_id=me.bot,
                    name=me.team_name,
                    history_limit=HistoryLimit(me.team, app.key_values, app.now),
                )
            elif store:
                flow = new_oauth_flow(app, store, client, tokens, installations.on_installed)
            bolt = new_bolt(installations, client, tokens, flow)
            await self._serve_workspaces(installations, bolt, me)

    async def _serve_workspaces(
        self, installations: Installations, bolt: AsyncApp, me: Identity | None
    ) -> None:
        app = self._app_context
        await app.runner.resume((CHAT,))
        try:
            await installations.connect_all()
        except StoreError:
            raise
        except CouncilError as error:  # the tokens of some cannot be decrypted
            self._report(f"Slack: {error}")
        SlackListeners(app).register(bolt)
        where = me.team_name if me else count_noun(len(installations.connected), "workspace")
        try:
            async with installations.serving():
                self._handler = AsyncSlackRequestHandler(bolt)
                self._supervisor.report_connected(f"in {where} over {self._tokens.transport}.")
                for warning in me.warnings if me else ():
                    self._report(warning)
                receive = installations.ended.wait()
                if self._tokens.app:
                    socket = _run_socket(bolt, self._tokens.app, self._limits.ping_seconds)
                    await run_until_first(receive, socket)
                else:
                    await receive
        finally:
            self._handler = None
        raise SlackError(UNINSTALLED_FROM.format(name=where))


def _is_signed(body: bytes, headers: Mapping[str, str], secret: str) -> bool:
    """Return whether Slack signed these bytes in the last five minutes; nothing is parsed."""
    at, signature = (
        headers.get(f"x-slack-{name}", "") for name in ("request-timestamp", "signature")
    )
    if (
        not re.fullmatch(r"[0-9]{1,12}", at)
        or abs(time.time() - int(at)) > MAX_SIGNATURE_AGE_SECONDS
    ):
        return False
    digest = hmac.digest(secret.encode(), b"v0:" + at.encode() + b":" + body, "sha256").hex()
    return hmac.compare_digest(f"v0={digest}".encode(), signature.encode())


def _is_object(body: bytes, content_type: str) -> bool:
    """Return whether a body is a form or a JSON object, which Bolt takes for granted."""
    try:
        return isinstance(parse_body(body.decode(), content_type.partition(";")[0]), dict)
    except (ValueError, RecursionError):
        return False


async def _run_socket(bolt: AsyncApp, app_token: str, ping_seconds: float) -> None:
    """Receive events over a socket until cancelled; SlackError if Slack refuses the token."""
    logger = redirect_library_log(__name__, logging.WARNING, "slack_trouble")
    socket = _Socket(app_token, logger, bolt.client, ping_interval=ping_seconds)
    socket.refused = asyncio.get_running_loop().create_future()

    async def handle(client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        began = time.time()
        await send_async_response(client, request, await run_async_bolt_app(bolt, request), began)

    socket.socket_mode_request_listeners.append(handle)
    try:
        connecting = asyncio.create_task(socket.connect())
        await asyncio.wait({connecting, socket.refused}, return_when=asyncio.FIRST_COMPLETED)
        await socket.refused
    finally:
        await socket.close()  # type: ignore[no-untyped-call]  # the SDK's own


class _Socket(SocketModeClient):
    """A socket that reconnects by itself until Slack refuses its token for good."""

    refused: "asyncio.Future[None]"

    async def connect(self) -> None:
        """Connect, with a new URL for each attempt that timed out."""
        while not self.closed:
            try:
                async with asyncio.timeout(2 * self.ping_interval):
                    await super().connect()  # type: ignore[no-untyped-call]  # the SDK's own
            except TimeoutError:
                self.wss_uri = None  # the SDK then asks for another
            else:
                return
            finally:
                self.auto_reconnect_enabled = True  # the SDK leaves it off after a failure

    async def issue_new_wss_url(self) -> str:
        """Return the URL of a new socket; close for good if the refusal is final."""
        try:
            return await super().issue_new_wss_url()
        except SlackApiError as error:
            code = str(error.response.get("error", ""))
            if code in FINAL_TOKEN_ERRORS and not self.refused.done():
                self.refused.set_exception(
                    SlackError(
                        f"Slack no longer accepts SLACK_APP_TOKEN ({code}). Create a new one."
                    )
                )
                self.closed = True  # otherwise the SDK asks again forever
            raise
