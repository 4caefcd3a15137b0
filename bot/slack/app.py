"""Slack app: preflight, then Bolt over Socket Mode or HTTP, reconnected until uninstalled."""

import asyncio
import hmac
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.internals import parse_body
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bot.chat import Chat
from bot.commands.recovery import ChatSupervisor, delete_workspace, serve_chat
from bot.commands.round_delivery import RoundDelivery
from bot.context import AppContext
from bot.coordination.tasks import run_until_first
from bot.observability.logs import redirect_library_log
from bot.slack.client import (
    FINAL_TOKEN_ERRORS,
    Identity,
    SlackError,
    check_app_token,
    fetch_identity,
    open_client,
)
from bot.slack.config import Tokens
from bot.slack.ephemeral import EphemeralReplies
from bot.slack.events import Body, invalidate_changed_channels, wait_for_uninstall
from bot.slack.listeners import SlackListeners
from bot.slack.messages import SlackChat
from bot.slack.workspace import CHAT, DEFAULT_LIMITS, SlackLimits, Workspace
from council.places import Place
from council.ports import RoundQuery

REVOKED = (
    "SLACK_BOT_TOKEN was revoked, so nothing can be posted: install the app again, set its "
    "new token, and start again."
)
NOT_INSTALLED = (
    "The council is not installed in this workspace, so nothing was asked and nothing was spent: "
    "ask an administrator to install it."
)
MAX_SIGNATURE_AGE_SECONDS = 300


class Slack:
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

    async def handle_http(self, request: Request) -> Response:
        """Handle an HTTP request from Slack; refuse one that Slack did not sign."""
        if self._handler is None:
            return PlainTextResponse("Slack is not connected yet.\n", status_code=503)
        body = await request.body()
        if not _is_signed(body, request.headers, self._tokens.signing):
            return PlainTextResponse("Only Slack is heard here.\n", status_code=401)
        if not _is_object(body, request.headers.get("content-type", "")):
            return PlainTextResponse("This is not what Slack sends.\n", status_code=400)
        return await self._handler.handle(request)

    @property
    def is_ready(self) -> bool:
        """Return whether requests from Slack can be handled; over a socket, there are none."""
        return bool(self._tokens.app) or self._handler is not None

    async def _serve(self) -> None:
        timeout = self._limits.timeout_seconds
        async with open_client(self._tokens.api_url, self._tokens.bot, timeout) as client:
            me = await fetch_identity(client)
            if me.faults:
                raise SlackError(" ".join(me.faults))
            if self._tokens.app:
                await check_app_token(client, self._tokens.app)
            workspace = Workspace(client, me.team, me.user, me.scopes, self._limits, me.bot)
            await self._serve_workspace(workspace, me)

    async def _serve_workspace(self, workspace: Workspace, me: Identity) -> None:
        app, team, tasks = self._app_context, workspace.team, workspace.tasks
        await app.runner.resume((CHAT,))
        delivery = RoundDelivery(
            *(app, CHAT, RoundQuery(chats=(CHAT,), workspace=team)),
            partial(SlackChat, workspace),
            EphemeralReplies(workspace),
        )
        # Read before the listeners start: rounds asked from now on are delivered by them.
        pending = await delivery.undelivered()
        bolt = _build_bolt(workspace, self._tokens.signing)
        SlackListeners(app).register(bolt)
        bolt.event("tokens_revoked")(self._on_tokens_revoked)
        self._handler = None if self._tokens.app else AsyncSlackRequestHandler(bolt)
        self._supervisor.report_connected(f"in {me.team_name} over {self._tokens.transport}.")
        for warning in me.warnings:
            self._report(warning)

        def find_chat(place: Place) -> Chat | None:
            return SlackChat(workspace) if place.workspace == team else None

        app.chats[CHAT] = find_chat
        try:
            tasks.start(invalidate_changed_channels(app.pubsub, workspace))
            tasks.start(wait_for_uninstall(app.pubsub, workspace))
            async with serve_chat(delivery, find_chat, pending, tasks):
                if self._tokens.app:
                    socket = _run_socket(bolt, self._tokens.app, self._limits.ping_seconds)
                    await run_until_first(workspace.uninstalled.wait(), socket)
                else:
                    await workspace.uninstalled.wait()
        finally:
            self._handler = None
            app.chats.pop(CHAT, None)
            await tasks.close()
            await app.bakeoff_registry.stop(CHAT)
        await delete_workspace(app, CHAT, team)
        raise SlackError(f"The app was uninstalled from {me.team_name}: its rounds are deleted.")

    async def _on_tokens_revoked(self, event: Body) -> None:
        """Report that the bot token was revoked; tokens of users do not matter."""
        if (event.get("tokens") or {}).get("bot"):
            self._supervisor.report(REVOKED)


def _build_bolt(own: Workspace, signing_secret: str) -> AsyncApp:
    """Return the Bolt app, which neither reads the environment nor calls auth.test again."""

    async def find_workspace(context: AsyncBoltContext) -> Workspace | None:
        return own if context.team_id == own.team else None

    async def authorize(context: AsyncBoltContext) -> AuthorizeResult | None:
        """Return None, so that Bolt refuses the request, if its team has not installed the app."""
        workspace = await find_workspace(context)
        if workspace is None:
            return None
        return AuthorizeResult(
            enterprise_id=context.enterprise_id,
            team_id=workspace.team,
            bot_user_id=workspace.bot_user,
            bot_id=workspace.bot_id,
            bot_token=workspace.client.token,
        )

    async def attach_workspace(
        context: AsyncBoltContext, next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        """Put the workspace into the context; drop the farewell of one that is not known."""
        workspace = await find_workspace(context)
        if workspace is None:
            return BoltResponse(status=200)
        context["workspace"] = workspace
        await next_()
        return None

    bolt = AsyncApp(
        logger=redirect_library_log(__name__, logging.ERROR, "slack_trouble"),
        client=own.client,
        signing_secret=signing_secret,
        authorize=authorize,  # type: ignore[arg-type]  # None is what Bolt refuses
        user_facing_authorize_error_message=NOT_INSTALLED,
        # Acknowledge an event only after its listener, which has stored its round by then.
        process_before_response=True,
    )
    bolt.use(attach_workspace)
    return bolt


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
                    SlackError(f"Slack takes SLACK_APP_TOKEN no more ({code}): make a new one.")
                )
                self.closed = True  # otherwise the SDK asks again forever
            raise
