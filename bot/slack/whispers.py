"""Telling only the one who spoke: with the acknowledgement, or by a message nobody else sees."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.chat import Said
from bot.slack.calls import RefusedError, called
from bot.slack.dress import Message
from bot.slack.workspace import Workspace
from council.errors import CouncilError

ACKNOWLEDGE_SECONDS = 2.0  # of the three that Slack gives
PATIENCE_SECONDS = 120.0
_QUIET: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}

Ack = Callable[..., Awaitable[Any]]


class Whispers:
    """Tells one person in the place where they spoke; `response_url` works where we are no member.

    The first whisper after a command goes with its acknowledgement.
    """

    def __init__(
        self, workspace: Workspace, response_url: str = "", ack: Ack | None = None
    ) -> None:
        self._workspace = workspace
        self._response_url = response_url
        self._ack = ack
        self._acknowledged = asyncio.Event()

    async def __call__(self, said: Said, message: Message) -> None:
        """Tell the one who spoke; what cannot be told anywhere is logged."""
        if await self._acknowledge(message):
            return
        try:
            await self._told(said, message)
        except CouncilError as error:
            structlog.get_logger().warning("slack_whisper_lost", key=said.key, why=str(error))

    async def in_time(self) -> None:
        """Have the command acknowledged before Slack gives up on us, whatever is said later."""
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                await self._acknowledged.wait()
        except TimeoutError:
            await self._acknowledge(None)

    async def end(self) -> None:
        """Acknowledge what there is nothing more to say to."""
        await self._acknowledge(None)

    async def _acknowledge(self, message: Message | None) -> bool:
        if self._ack is None or self._acknowledged.is_set():
            return False
        self._acknowledged.set()
        if message is None:
            await self._ack()
        else:
            await self._ack(response_type="ephemeral", **message.payload)
        return True

    async def _told(self, said: Said, message: Message) -> None:
        place, client = said.place, self._workspace.client
        payload = {"channel": place.channel, "thread_ts": place.thread, **message.payload}
        try:
            if place.channel.startswith("D"):
                await called(lambda: client.chat_postMessage(**payload, **_QUIET), PATIENCE_SECONDS)
            else:
                user = said.asker.id
                await called(
                    lambda: client.chat_postEphemeral(user=user, **payload), PATIENCE_SECONDS
                )
        except RefusedError:
            if self._response_url:
                await self._respond(message)
            else:  # not in the channel any more: a message to the person alone
                await called(
                    lambda: client.chat_postMessage(
                        **{**payload, **_QUIET, "channel": said.asker.id, "thread_ts": None}
                    )
                )

    async def _respond(self, message: Message) -> None:
        webhook = AsyncWebhookClient(self._response_url, retry_handlers=[])
        reply = await webhook.send_dict({"response_type": "ephemeral", **message.payload})
        if reply.status_code != 200:  # noqa: PLR2004
            raise RefusedError(reply.body)
