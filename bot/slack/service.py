"""Slack as long as the bot runs: preflight, then one of two transports."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bot.chat import UnsureError
from bot.commands.desk import Desk
from bot.slack.calls import TIMEOUT_SECONDS
from bot.slack.ears import Ears
from bot.slack.people import People
from bot.slack.preflight import Identity, SlackError, check_app_token, identity
from bot.slack.sockets import run_socket
from bot.slack.untold import Untold
from bot.slack.workspace import CHAT, SLACKS_OWN, Pace, Workspace
from council.errors import CouncilError

LONGEST_PAUSE_SECONDS = 60.0
NOT_READY = "Slack is not connected yet.\n"
ONLY_SLACK = "Only Slack is heard here.\n"


@dataclass(frozen=True, slots=True)
class Tokens:
    """What Slack is reached with; with `app` over a socket, else `signing` checks what it posts."""

    bot: str
    app: str
    signing: str
    api_url: str

    @property
    def transport(self) -> str:
        """Give the way events come in."""
        return "Socket Mode" if self.app else "HTTP at /slack/events"


class Slack:
    """Slack from start to stop; `tell` hears how it stands, in a sentence."""

    def __init__(
        self,
        desk: Desk,
        tokens: Tokens,
        tell: Callable[[str], None],
        pace: Pace = SLACKS_OWN,
    ) -> None:
        self._desk = desk
        self._tokens = tokens
        self._tell = tell
        self._pace = pace
        self._handler: AsyncSlackRequestHandler | None = None

    async def run(self) -> None:
        """Serve until cancelled, or until Slack takes a token no more; told is why."""
        pause = 1.0
        while True:
            try:
                await self._served()
            except UnsureError as error:
                self._tell(f"Slack: {error} The next try is in {pause:.0f} s.")
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE_SECONDS, 2 * pause)
            except CouncilError as error:
                self._tell(f"Slack: not started. {error}")
                return

    async def posted(self, request: Request) -> Response:
        """Hear what Slack posts; what it did not sign is refused."""
        if self._handler is None:
            return PlainTextResponse(NOT_READY, status_code=503)
        if not request.headers.get("x-slack-request-timestamp", "").isdigit():
            return PlainTextResponse(ONLY_SLACK, status_code=401)
        return await self._handler.handle(request)

    async def _served(self) -> None:
        timeout = aiohttp.ClientTimeout(total=self._pace.timeout_seconds)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            client = _client(self._tokens, session)
            me = await identity(client)
            if self._tokens.app:
                await check_app_token(client, self._tokens.app)
            people = People(client, me.team)
            workspace = Workspace(client, me.team, me.user, people, me.scopes, self._pace)
            await self._heard(workspace, me)

    async def _heard(self, workspace: Workspace, me: Identity) -> None:
        await self._desk.runner.resume((CHAT,))
        untold = Untold(self._desk, workspace)
        # What is acknowledged has been taken in: an event is, once its round is stored.
        app = AsyncApp(
            client=workspace.client,
            signing_secret=self._tokens.signing or None,
            process_before_response=True,
        )
        Ears(self._desk, workspace, untold.doing, untold.leave).listen_to(app)
        self._handler = None if self._tokens.app else AsyncSlackRequestHandler(app)
        self._tell(f"Slack: in {me.team_name} over {self._tokens.transport}.")
        for warning in me.warnings:
            self._tell(warning)
        try:
            await untold.tell()
            await self._hearing(app, untold)
        finally:
            self._handler = None
            await untold.doing.close()
        await untold.drop()
        raise SlackError(f"The app was uninstalled from {me.team_name}: its rounds are deleted.")

    async def _hearing(self, app: AsyncApp, untold: Untold) -> None:
        """Hear what comes in until the app is uninstalled."""
        heard: list[asyncio.Task[object]] = [asyncio.create_task(untold.gone.wait())]
        if self._tokens.app:
            socket = run_socket(app, self._tokens.app, self._pace.ping_seconds)
            heard.append(asyncio.create_task(socket))
        try:
            done, _ = await asyncio.wait(heard, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in heard:
                task.cancel()
            await asyncio.gather(*heard, return_exceptions=True)


def _client(tokens: Tokens, session: aiohttp.ClientSession) -> AsyncWebClient:
    return AsyncWebClient(
        token=tokens.bot,
        base_url=tokens.api_url,
        timeout=TIMEOUT_SECONDS,
        session=session,
        retry_handlers=[],  # the SDK's own would send a message twice
    )
