"""Telling only the one who spoke: with the acknowledgement, or by a message nobody else sees."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import structlog
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.chat import (
    Chat,
    DeliveryUnknownError,
    File,
    IncomingMessage,
    MessageGoneError,
    Post,
    PostingForbiddenError,
    SendEphemeral,
    SentMessage,
    retry_until_sent,
    send_first_possible,
)
from bot.render.pagination import pages
from bot.slack import workspace as channels
from bot.slack.block_kit import BlockLevel, Message, dressed, fits_slack
from bot.slack.client import TIMEOUT_SECONDS, Call, RefusedError, SlackServerError, called
from bot.slack.files import find_message, upload
from bot.slack.workspace import ARCHIVED, INVITE, UNFURLED, Workspace
from council.errors import CouncilError
from council.places import Place

# --- Telling only the one who spoke: with the acknowledgement, or by a message nobody else sees.

ACKNOWLEDGE_SECONDS = 2.0  # of the three that Slack gives
PATIENCE_SECONDS = 120.0

Ack = Callable[..., Awaitable[Any]]
Way = Callable[[IncomingMessage, Message], Awaitable[object]]


class EphemeralReplies:
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

    async def __call__(self, said: IncomingMessage, post: Post) -> None:
        """Tell the one who spoke; what cannot be told anywhere is logged."""
        if await self._acknowledge(dressed(post, BlockLevel.MONOSPACE)):
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

    async def _told(self, said: IncomingMessage, post: Post) -> None:
        """Tell in the first way that Slack takes; where it takes no blocks, in plain text."""
        messages = (dressed(post, level) for level in (BlockLevel.MONOSPACE, BlockLevel.NO_BLOCKS))
        ways = (partial(way, said, one) for one in messages for way in self._ways(said))
        await send_first_possible((partial(called, way) for way in ways), PATIENCE_SECONDS)

    def _ways(self, said: IncomingMessage) -> list[Way]:
        """Give the ways to one person: in the place, through what they did, by direct message."""
        if said.place.channel.startswith("D"):
            return [self._post]
        through = [self._respond] if self._response_url else []
        return [self._post_to_one, *through, self._post_alone]

    async def _post(self, said: IncomingMessage, message: Message) -> object:
        place = said.place
        return await self._workspace.client.chat_postMessage(
            channel=place.channel, thread_ts=place.thread, **message.payload, **UNFURLED
        )

    async def _post_to_one(self, said: IncomingMessage, message: Message) -> object:
        place = said.place
        return await self._workspace.client.chat_postEphemeral(
            channel=place.channel, thread_ts=place.thread, user=said.asker.id, **message.payload
        )

    async def _post_alone(self, said: IncomingMessage, message: Message) -> object:
        return await self._workspace.client.chat_postMessage(
            channel=said.asker.id, **message.payload, **UNFURLED
        )

    async def _respond(self, _: IncomingMessage, message: Message) -> object:
        webhook = AsyncWebhookClient(self._response_url, timeout=TIMEOUT_SECONDS, retry_handlers=[])
        reply = await webhook.send_dict({"response_type": "ephemeral", **message.payload})
        if reply.status_code != 200:  # noqa: PLR2004
            raise RefusedError(reply.body)
        return reply


# --- Whispers beside a thread: Slack shows nobody what is whispered in one without replies.


def beside(whisper: SendEphemeral) -> SendEphemeral:
    """Give a whisper that is heard in the channel, whatever thread is spoken of."""

    async def told(said: IncomingMessage, post: Post) -> None:
        await whisper(replace(said, place=replace(said.place, thread=None)), post)

    return told


# --- Slack as a chat: posts become messages, and every one that is refused has a plainer form.

FAULTS_A_LEVEL = 2
PROGRESS_PATIENCE_SECONDS = 0.0
_GONE = {
    "message_not_found": "The message is not there any more.",
    "thread_not_found": "The thread is not there any more: ask again in the channel.",
    "cannot_reply_to_message": "Nobody may reply to this message: ask again in the channel.",
}
_UNWELCOME = {
    "channel_not_found": INVITE,
    "not_in_channel": INVITE,
    "user_not_in_channel": INVITE,
    "is_archived": ARCHIVED,
    "is_inactive": ARCHIVED,
    "restricted_action": "Not everybody may post in this channel: ask in another one.",
    "restricted_action_thread_only_channel": (
        "Only replies may be posted in this channel: ask in another one."
    ),
}
# Nothing untrusted is parsed: no name becomes a mention, no address a preview.
UNPARSED: dict[str, Any] = {"parse": "none", "link_names": False}
MOVED = "The answer is in a message of its own, below."

Write = Callable[[dict[str, Any]], Awaitable[AsyncSlackResponse]]
How = Callable[[Call[AsyncSlackResponse]], Awaitable[AsyncSlackResponse]]


class SlackChat(Chat):
    """The way to people in one workspace; `whisper` is how the one who spoke is reached."""

    is_room = True
    tick_seconds: ClassVar[float] = 15.0

    def __init__(self, workspace: Workspace, whisper: SendEphemeral) -> None:
        self._workspace = workspace
        self._client = workspace.client
        self._whisper = whisper
        self._written_at = time.monotonic()
        self._late_until = self._written_at
        self._progress_level = BlockLevel.DATA_TABLE
        self._faults = Counter[str]()
        self.keeps_files = workspace.may("files:write")

    def pages(self, post: Post) -> tuple[Post, ...]:
        """Give the post as so many that each fits in a message; nothing is dropped."""
        return pages(post, fits_slack)

    async def named(self, asker_id: str) -> str:
        """Give the name somebody goes by."""
        return await self._workspace.people.named(asker_id)

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Post a message; its key goes with it as metadata that people do not see."""
        async with self._workspace.posts_in(place.channel):
            file = next((part for part in post.parts if isinstance(part, File)), None)
            if file:
                return await self._uploaded(place, file)
            return await self._posted(place, post, key)

    async def _uploaded(self, place: Place, file: File) -> SentMessage:
        """Post a file; one that Slack does not take is no reason to stop, or to try for ever."""
        try:
            return SentMessage(place, await upload(self._client, place, file))
        except RefusedError as error:
            if error.is_about_token:
                raise
            structlog.get_logger().warning("slack_file_refused", why=error.code)
            return SentMessage(place, f"refused: {error.code}")

    async def _posted(self, place: Place, post: Post, key: str) -> SentMessage:
        metadata = {"event_type": "council_round", "event_payload": {"key": key}}

        async def write(payload: dict[str, Any]) -> AsyncSlackResponse:
            return await self._client.chat_postMessage(
                channel=place.channel,
                thread_ts=place.thread,
                metadata=metadata,
                **payload,
                **UNPARSED,
                **UNFURLED,
            )

        try:
            reply = await self._written(key, post, write)
        except RefusedError as error:
            meaning = _meaning(error)
            if meaning is error and not error.is_about_token:
                meaning = PostingForbiddenError(str(error))
            raise meaning from None
        # A message to a person is posted in a channel of its own.
        channel = str(reply.get("channel") or place.channel)
        return SentMessage(replace(place, channel=channel), str(reply["ts"]))

    async def _written(self, name: str, post: Post, write: Write) -> AsyncSlackResponse:
        """Write a message; what Slack stumbles over again and again is made plainer."""
        best = BlockLevel(min(self._faults[name] // FAULTS_A_LEVEL, BlockLevel.NO_BLOCKS))
        try:
            reply, _ = await _plainer_until_taken(post, write, called, best)
        except SlackServerError:
            self._faults[name] += 1
            raise
        return reply

    async def find(self, place: Place, key: str) -> SentMessage | None:
        """Give the message that was posted with this key."""
        return await find_message(self._workspace, place, key)

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Replace a message, however long Slack wants to be left alone before."""
        update = self._update(sent)
        try:
            async with self._workspace.edits.first():
                await retry_until_sent(partial(self._written, sent.message, post, update))
        except RefusedError as error:
            meaning = _meaning(error)
            if meaning is error and not error.is_about_token:
                # Whatever Slack has against this edit, a new message may do.
                structlog.get_logger().warning("slack_edit_refused", why=error.code)
                await self._moved(update)
                meaning = MessageGoneError(MOVED)
            raise meaning from None

    async def _moved(self, update: Write) -> None:
        """Say where progress was shown that the answer is in a message of its own."""
        with suppress(RefusedError):
            await retry_until_sent(partial(called, partial(update, {"text": MOVED})))

    async def turn(self, sent: SentMessage) -> None:
        """Wait until message and workspace bear another sight of progress."""
        at = self._written_at + self._workspace.pace.edit_seconds
        await asyncio.sleep(at - time.monotonic())
        await self._workspace.edits.turn()

    async def show_progress(self, sent: SentMessage, post: Post) -> None:
        """Replace a message for the time being; the next sight makes up for one that fails."""
        self._written_at = time.monotonic()
        try:
            _, self._progress_level = await _plainer_until_taken(
                post, self._update(sent), _once, self._progress_level
            )
        except CouncilError as error:
            if isinstance(error, DeliveryUnknownError):
                self._gave_up()
            structlog.get_logger().debug("slack_progress_not_shown", why=str(error))
        except asyncio.CancelledError:
            self._gave_up()
            raise

    def _gave_up(self) -> None:
        """Take note that an edit may still be carried out."""
        self._late_until = time.monotonic() + self._workspace.pace.late_seconds

    async def settle(self, sent: SentMessage, post: Post) -> None:
        """Put a message right again once no edit that we gave up can be carried out any more."""
        seconds = self._late_until - time.monotonic()
        if seconds > 0:
            await asyncio.sleep(seconds)
            with suppress(MessageGoneError):  # then it has been read, and is not wanted
                await self.edit(sent, post)

    def private_place(self, asker_id: str, place: Place) -> Place:
        """Give the direct messages with somebody: Slack opens them for who posts to a person."""
        return replace(place, channel=asker_id, thread=None, private=True)

    def _update(self, sent: SentMessage) -> Write:
        async def write(payload: dict[str, Any]) -> AsyncSlackResponse:
            # Blocks that are not named may stay as they were.
            whole = {"blocks": [], **payload}
            return await self._client.chat_update(
                channel=sent.place.channel, ts=sent.message, **whole, **UNPARSED
            )

        return write

    async def in_channel(self, said: IncomingMessage, channel: str) -> IncomingMessage:
        """Give what was said as if it were said in another channel, named or by its id."""
        return await channels.elsewhere(self._workspace, said, channel)

    async def check_postable(self, place: Place) -> None:
        """Raise PostingForbiddenError with the reason if nothing can be posted there."""
        await channels.check_postable(self._workspace, place)

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        """Tell only the one who spoke."""
        for page in self.pages(post):
            await self._whisper(said, page)


async def _once(call: Call[AsyncSlackResponse]) -> AsyncSlackResponse:
    return await called(call, PROGRESS_PATIENCE_SECONDS)


async def _plainer_until_taken(
    post: Post, write: Write, how: How, best: BlockLevel = BlockLevel.DATA_TABLE
) -> tuple[AsyncSlackResponse, BlockLevel]:
    """Write a post as well as Slack takes it, and say at which level."""
    level = best
    while True:
        payload = dressed(post, level).payload
        try:
            return await how(partial(write, payload)), level
        except RefusedError as error:
            if level.plainer is None or not _about_blocks(error.code):
                raise
            structlog.get_logger().warning("slack_blocks_refused", why=error.code, level=level.name)
            level = level.plainer


def _about_blocks(code: str) -> bool:
    """Say whether a plainer message may be taken where this one was refused."""
    return code.startswith(("invalid_blocks", "invalid_attachments", "msg_", "invalid_arguments"))


def _meaning(error: RefusedError) -> CouncilError:
    """Give a refusal as what every chat knows; itself where it is Slack's own affair."""
    if error.code in _GONE:
        return MessageGoneError(_GONE[error.code])
    if error.code in _UNWELCOME:
        return PostingForbiddenError(_UNWELCOME[error.code])
    if error.code.startswith("restricted_action"):
        return PostingForbiddenError(_UNWELCOME["restricted_action"])
    return error
