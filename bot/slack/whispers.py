"""Telling only the one who spoke: with the acknowledgement, or by a message nobody else sees."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import structlog
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.chat import Post, Said, insisted_on_one
from bot.slack.calls import TIMEOUT_SECONDS, RefusedError, called
from bot.slack.dress import Level, Message, dressed
from bot.slack.workspace import UNFURLED, Workspace
from council.errors import CouncilError

ACKNOWLEDGE_SECONDS = 2.0  # of the three that Slack gives
PATIENCE_SECONDS = 120.0

Ack = Callable[..., Awaitable[Any]]
Way = Callable[[Said, Message], Awaitable[object]]


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

    async def __call__(self, said: Said, post: Post) -> None:
        """Tell the one who spoke; what cannot be told anywhere is logged."""
        if await self._acknowledge(dressed(post, Level.MONOSPACE)):
            return
        try:
            await self._told(said, post)
        except CouncilError as error:
            structlog.get_logger().warning("slack_whisper_lost", key=said.key, why=str(error))

    async def in_time(self) -> None:
        """Have the command acknowledged before Slack gives up on us, whatever is said later."""
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                await self._acknowledged.wait()
        except TimeoutError:
            await self._acknowledge(None)

    async def taken_in(self) -> None:
        """Wait until what was heard is safe: told of, or done with."""
        await self._acknowledged.wait()

    async def end(self) -> None:
        """Acknowledge what there is nothing more to say to."""
        await self._acknowledge(None)

    async def _acknowledge(self, message: Message | None) -> bool:
        """Let it be known that the event was taken in; say whether the message went along."""
        if self._acknowledged.is_set():
            return False
        self._acknowledged.set()
        if self._ack is None:
            return False
        if message is None:
            await self._ack()
        else:
            await self._ack(response_type="ephemeral", **message.payload)
        return True

    async def _told(self, said: Said, post: Post) -> None:
        """Tell in the first way that Slack takes; where it takes no blocks, in plain text."""
        messages = (dressed(post, level) for level in (Level.MONOSPACE, Level.NO_BLOCKS))
        ways = (partial(way, said, one) for one in messages for way in self._ways(said))
        await insisted_on_one((partial(called, way) for way in ways), PATIENCE_SECONDS)

    def _ways(self, said: Said) -> list[Way]:
        """Give the ways to one person: in the place, through what they did, by direct message."""
        if said.place.channel.startswith("D"):
            return [self._post]
        through = [self._respond] if self._response_url else []
        return [self._post_to_one, *through, self._post_alone]

    async def _post(self, said: Said, message: Message) -> object:
        place = said.place
        return await self._workspace.client.chat_postMessage(
            channel=place.channel, thread_ts=place.thread, **message.payload, **UNFURLED
        )

    async def _post_to_one(self, said: Said, message: Message) -> object:
        place = said.place
        return await self._workspace.client.chat_postEphemeral(
            channel=place.channel, thread_ts=place.thread, user=said.asker.id, **message.payload
        )

    async def _post_alone(self, said: Said, message: Message) -> object:
        return await self._workspace.client.chat_postMessage(
            channel=said.asker.id, **message.payload, **UNFURLED
        )

    async def _respond(self, _: Said, message: Message) -> object:
        webhook = AsyncWebhookClient(self._response_url, timeout=TIMEOUT_SECONDS, retry_handlers=[])
        reply = await webhook.send_dict({"response_type": "ephemeral", **message.payload})
        if reply.status_code != 200:  # noqa: PLR2004
            raise RefusedError(reply.body)
        return reply
