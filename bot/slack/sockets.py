"""Socket Mode: events over a socket that we open, and acknowledgements on the way back."""

import asyncio
import logging
import time

from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.slack.preflight import SlackError
from bot.slack.sdk_logs import sdk_logger

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
