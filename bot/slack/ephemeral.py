"""Ephemeral replies in Slack: acknowledge a command and answer one user in private."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.chat import IncomingMessage, Post, SendEphemeral, send_first_possible
from bot.slack.block_kit import Payload, render_ephemeral, render_text
from bot.slack.client import TIMEOUT_SECONDS, RefusedError, call_api
from bot.slack.workspace import NO_UNFURL, Workspace
from council.errors import CouncilError

Ack = Callable[..., Awaitable[Any]]

ACKNOWLEDGE_SECONDS = 0.3  # of the three that Slack allows


class EphemeralReplies:
    """Ephemeral replies to one event, and its acknowledgement.

    The first reply to a slash command is sent with the acknowledgement. The `response_url` also
    works where the bot is not a member.
    """

    def __init__(
        self, workspace: Workspace, response_url: str = "", ack: Ack | None = None
    ) -> None:
        self._workspace = workspace
        self._response_url = response_url
        self._ack = ack
        self._acknowledged = asyncio.Event()

    async def __call__(self, message: IncomingMessage, post: Post) -> None:
        """Send a post that only the author of the message sees; log it if that is impossible."""
        if await self.acknowledge(render_ephemeral(post)):
            return
        # By the first route that works, with blocks if possible, else as plain text.
        calls = (
            partial(call_api, partial(route, reply))
            for reply in (render_ephemeral(post), render_text(post))
            for route in self._routes(message)
        )
        try:
            await send_first_possible(calls, 120.0)
        except CouncilError as error:
            structlog.get_logger().warning("slack_whisper_lost", key=message.key, why=str(error))

    async def acknowledge_in_time(self) -> None:
        """Acknowledge a command without its reply if that takes longer than people notice."""
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                await self._acknowledged.wait()
        except TimeoutError:
            await self.acknowledge()

    async def wait_until_acknowledged(self) -> None:
        """Wait until the event is stored, replied to or handled, so that it cannot be lost."""
        await self._acknowledged.wait()

    async def acknowledge(self, reply: Payload | None = None) -> bool:
        """Acknowledge the event once; return whether this call did, and so sent the reply."""
        if self._acknowledged.is_set():
            return False
        self._acknowledged.set()
        if self._ack:
            await self._ack(**({"response_type": "ephemeral", **reply} if reply else {}))
        return self._ack is not None

    def _routes(self, message: IncomingMessage) -> list[Callable[[Payload], Awaitable[object]]]:
        """Return the routes to one user: in the place, by response_url, by direct message."""
        client, user = self._workspace.client, message.asker.id
        here: Payload = {"channel": message.place.channel, "thread_ts": message.place.thread}

        async def post(reply: Payload, **where: Any) -> object:  # noqa: ANN401
            return await client.chat_postMessage(**where, **reply, **NO_UNFURL)

        async def post_ephemeral(reply: Payload) -> object:
            return await client.chat_postEphemeral(**here, user=user, **reply)

        if message.place.channel.startswith("D"):
            return [partial(post, **here)]
        by_url = [self._respond] if self._response_url else []
        return [post_ephemeral, *by_url, partial(post, channel=user)]

    async def _respond(self, reply: Payload) -> object:
        webhook = AsyncWebhookClient(self._response_url, timeout=TIMEOUT_SECONDS, retry_handlers=[])
        response = await webhook.send_dict({"response_type": "ephemeral", **reply})
        if response.status_code != 200:  # noqa: PLR2004
            raise RefusedError(response.body)
        return response


def outside_thread(send_ephemeral: SendEphemeral) -> SendEphemeral:
    """Return a sender that replies in the channel rather than in the thread.

    Slack does not show ephemeral messages in a thread that has no replies yet.
    """

    async def send(message: IncomingMessage, post: Post) -> None:
        await send_ephemeral(replace(message, place=replace(message.place, thread=None)), post)

    return send
