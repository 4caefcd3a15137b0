"""Socket Mode: events over a socket that we open, and acknowledgements on the way back."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bot.bakeoffs.lifecycle import BakeoffJobs, Way, go_on_in
from bot.chat import Chat, SendEphemeral
from bot.commands.context import AppContext
from bot.commands.recovery import ChatSupervisor, UndeliveredRounds, left
from bot.commands.round_delivery import RoundDelivery
from bot.coordination.tasks import BackgroundTasks, first_of
from bot.ports import JobQueue
from bot.slack.client import (
    Identity,
    SlackError,
    check_app_token,
    identity,
    opened_client,
    sdk_logger,
)
from bot.slack.config import Tokens
from bot.slack.events import Body, forget_changed, hear_gone
from bot.slack.listeners import SlackListeners
from bot.slack.messages import EphemeralReplies, SlackChat
from bot.slack.workspace import CHAT, SLACKS_OWN, Directory, LookupLimits, Workspace
from council.places import Place
from council.ports import RoundQuery

# --- Socket Mode: events over a socket that we open, and acknowledgements on the way back.

_FINAL = {
    "invalid_auth",
    "not_authed",
    "account_inactive",
    "token_revoked",
    "token_expired",
    "not_allowed_token_type",
    "missing_scope",
    "app_uninstalled",
}


class Socket(SocketModeClient):
    """A socket that comes back by itself, and gives up where its token is good no more."""

    refused: "asyncio.Future[None]"

    async def connect(self) -> None:
        """Connect, however often it takes; an address that was no good is not tried for ever."""
        while not self.closed:
            try:
                async with asyncio.timeout(2 * self.ping_interval):
                    await super().connect()  # type: ignore[no-untyped-call]  # the SDK's own
            except TimeoutError:
                self.wss_uri = None  # the SDK then asks for another
            else:
                return
            finally:
                self.auto_reconnect_enabled = True  # the SDK leaves it off where it fails

    async def issue_new_wss_url(self) -> str:
        """Give the address of a new socket; note a refusal that will not change."""
        try:
            return await super().issue_new_wss_url()
        except SlackApiError as error:
            code = str(error.response.get("error", ""))
            if code in _FINAL and not self.refused.done():
                self.refused.set_exception(
                    SlackError(f"Slack takes SLACK_APP_TOKEN no more ({code}): make a new one.")
                )
                self.closed = True  # the SDK would ask again for ever
            raise


async def run_socket(app: AsyncApp, app_token: str, ping_seconds: float) -> None:
    """Hear over a socket until cancelled; raise SlackError once Slack takes the token no more."""
    logger = sdk_logger(__name__, logging.WARNING)
    socket = Socket(app_token, logger, app.client, ping_interval=ping_seconds)
    socket.refused = asyncio.get_running_loop().create_future()

    async def handle(client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        began = time.time()
        await send_async_response(client, request, await run_async_bolt_app(app, request), began)

    socket.socket_mode_request_listeners.append(handle)
    try:
        connecting = asyncio.create_task(socket.connect())
        await asyncio.wait({connecting, socket.refused}, return_when=asyncio.FIRST_COMPLETED)
        await socket.refused
    finally:
        await socket.close()  # type: ignore[no-untyped-call]  # the SDK's own


# --- Slack as long as the bot runs: preflight, then one of two transports.

NOT_READY = "Slack is not connected yet.\n"
ONLY_SLACK = "Only Slack is heard here.\n"
REVOKED = (
    "SLACK_BOT_TOKEN was revoked, so nothing can be posted: install the app again, set its "
    "new token, and start again."
)


class Slack:
    """Slack from start to stop; `tell` hears how it stands, in a sentence."""

    def __init__(
        self,
        app_context: AppContext,
        tokens: Tokens,
        tell: Callable[[str], None],
        pace: LookupLimits = SLACKS_OWN,
    ) -> None:
        self._app_context = app_context
        self._tokens = tokens
        self._coming_back = ChatSupervisor("Slack", tell)
        self._tell = tell
        self._pace = pace
        self._handler: AsyncSlackRequestHandler | None = None

    async def run(self) -> None:
        """Serve until cancelled, or until Slack takes a token no more; told is why."""
        await self._coming_back.serve(self._served)

    async def posted(self, request: Request) -> Response:
        """Hear what Slack posts; what it did not sign is refused."""
        if self._handler is None:
            return PlainTextResponse(NOT_READY, status_code=503)
        if not request.headers.get("x-slack-request-timestamp", "").isdigit():
            return PlainTextResponse(ONLY_SLACK, status_code=401)
        return await self._handler.handle(request)

    async def _revoked(self, event: Body) -> None:
        """Hear that tokens are good no more: people's own do not matter, the bot's does."""
        if (event.get("tokens") or {}).get("bot"):
            self._coming_back.say(REVOKED)

    async def _served(self) -> None:
        seconds = self._pace.timeout_seconds
        async with opened_client(self._tokens.api_url, self._tokens.bot, seconds) as client:
            me = await identity(client)
            if me.faults:
                raise SlackError(" ".join(me.faults))
            if self._tokens.app:
                await check_app_token(client, self._tokens.app)
            people = Directory(client, me.team)
            workspace = Workspace(client, me.team, me.user, people, me.scopes, self._pace)
            await self._heard(workspace, me)

    async def _heard(self, workspace: Workspace, me: Identity) -> None:
        await self._app_context.runner.resume((CHAT,))
        doing, gone = BackgroundTasks(), asyncio.Event()
        # What is asked from now on is shown by whoever hears it.
        before = await self._untold(workspace, doing).lines(_all_of(workspace))
        app = _bolt(workspace, me, self._tokens.signing)
        SlackListeners(self._app_context, workspace, doing, gone).listen_to(app)
        app.event("tokens_revoked")(self._revoked)
        self._handler = None if self._tokens.app else AsyncSlackRequestHandler(app)
        self._coming_back.subscription(f"in {me.team_name} over {self._tokens.transport}.")
        for warning in me.warnings:
            self._tell(warning)
        try:
            doing.begin(forget_changed(self._app_context.pubsub, workspace.people))
            doing.begin(hear_gone(self._app_context.pubsub, gone))
            way = self._way_of(workspace)
            if self._app_context.job_queue:
                async with self._working(self._app_context.job_queue, workspace, way):
                    await self._hearing(app, gone)
            else:
                self._untold(workspace, doing).publish(before)
                await go_on_in(self._app_context, CHAT, way)
                await self._hearing(app, gone)
        finally:
            self._handler = None
            self._app_context.chats.pop(CHAT, None)
            await doing.close()
            await self._app_context.bakeoff_registry.let_go(CHAT)
        await left(self._app_context, CHAT, workspace.team)
        raise SlackError(f"The app was uninstalled from {me.team_name}: its rounds are deleted.")

    def _untold(self, workspace: Workspace, doing: BackgroundTasks) -> UndeliveredRounds:
        return UndeliveredRounds(
            self._app_context, lambda: SlackChat(workspace, EphemeralReplies(workspace)), doing
        )

    @asynccontextmanager
    async def _working(
        self, works: JobQueue, workspace: Workspace, way: Way
    ) -> AsyncIterator[None]:
        """Show rounds and hold bake-offs, with the other processes, as long as the block lasts."""

        def chat(whisper: SendEphemeral) -> Chat:
            return SlackChat(workspace, whisper)

        told = (_all_of(workspace), chat, EphemeralReplies(workspace))
        showing = RoundDelivery(self._app_context, CHAT, *told).serve_queue(works)
        async with showing, BakeoffJobs(self._app_context, CHAT, way).serve_queue(works):
            yield

    def _way_of(self, workspace: Workspace) -> Way:
        """Give the way to places of the workspace, and have others find it too."""

        def way(place: Place) -> Chat | None:
            theirs = place.workspace == workspace.team
            return SlackChat(workspace, EphemeralReplies(workspace)) if theirs else None

        self._app_context.chats[CHAT] = way
        return way

    async def _hearing(self, app: AsyncApp, gone: asyncio.Event) -> None:
        """Hear what comes in until the app is uninstalled."""
        heard: list[Coroutine[None, None, object]] = [gone.wait()]
        if self._tokens.app:
            heard.append(run_socket(app, self._tokens.app, self._pace.ping_seconds))
        await first_of(*heard)


def _all_of(workspace: Workspace) -> RoundQuery:
    """Give which rounds were asked in a workspace."""
    return RoundQuery(chats=(CHAT,), workspace=workspace.team)


def _bolt(workspace: Workspace, me: Identity, signing: str) -> AsyncApp:
    """Give Bolt, told what it would else ask Slack for, or take from the environment."""

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None,
            team_id=me.team,
            bot_user_id=me.user,
            bot_id=me.bot,
            bot_token=workspace.client.token,
        )

    return AsyncApp(
        logger=sdk_logger(__name__, logging.ERROR),
        client=workspace.client,
        signing_secret=signing,
        authorize=authorize,
        # What is acknowledged has been taken in: an event is, once its round is stored.
        process_before_response=True,
    )
