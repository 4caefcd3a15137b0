"""Slack messages: SlackChat posts, edits and finds them."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, ClassVar

import structlog
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chat import (
    Chat,
    DeliveryUnknownError,
    File,
    IncomingMessage,
    MessageGoneError,
    Note,
    Post,
    PostingForbiddenError,
    SendEphemeral,
    SentMessage,
    event_key,
    retry_until_sent,
)
from bot.outbox import ROOTS
from bot.render.pagination import paginate
from bot.slack.block_kit import Payload, fits_slack, render_message, render_text
from bot.slack.client import RateLimitedError, RefusedError, SlackServerError, call_api
from bot.slack.ephemeral import EphemeralReplies
from bot.slack.files import NO_UPLOAD, upload_file
from bot.slack.history import read_pages
from bot.slack.workspace import (
    ARCHIVED,
    CHAT,
    NO_UNFURL,
    NOT_A_MEMBER,
    Workspace,
    postable_conversation,
    redirect_to_channel,
)
from council.errors import CouncilError
from council.places import Place

# Nothing untrusted is parsed: a name does not become a mention, nor a URL a preview.
NO_PARSING: dict[str, Any] = {"parse": "none", "link_names": False}

_REFUSED = "refused: "  # the id of a file that Slack refused begins so
_CLOCK_SKEW_SECONDS = 300.0  # between Slack's clock and ours
_NO_LOOK = "Slack does not show right now whether a message arrived."
_MAX_SERVER_ERRORS = 6  # with the blocks of one message, before it is sent as plain text
_BLOCK_ERRORS = ("invalid_blocks", "invalid_attachments", "msg_", "invalid_arguments")
REPLIES_READ = "Replies in this thread are read when somebody asks me here again."
_MOVED = "The answer is in a separate message below."
FILE_SENT = "{name} is in your direct messages with me."
_DELETED = {"message_not_found", "channel_not_found", "file_not_found", "file_deleted"}
_GONE = {
    "message_not_found": "The message no longer exists.",
    "thread_not_found": "The thread no longer exists. Ask again in the channel.",
    "cannot_reply_to_message": "Nobody can reply to this message. Ask again in the channel.",
}
_FORBIDDEN = {
    "channel_not_found": NOT_A_MEMBER,
    "not_in_channel": NOT_A_MEMBER,
    "user_not_in_channel": NOT_A_MEMBER,
    "is_archived": ARCHIVED,
    "is_inactive": ARCHIVED,
    "restricted_action": "Not everybody can post in this channel. Ask in another one.",
    "restricted_action_thread_only_channel": (
        "Only replies can be posted in this channel. Ask in another one."
    ),
}

Write = Callable[[Payload], Awaitable[AsyncSlackResponse]]


class SlackChat(Chat):
    """The chat of one workspace; a message whose blocks Slack refuses is sent as plain text."""

    is_room = True
    tick_seconds: ClassVar[float] = 15.0
    replies_privately = True

    def __init__(self, workspace: Workspace, send_ephemeral: SendEphemeral | None = None) -> None:
        self.workspace = workspace
        self._client = workspace.client
        self._send_ephemeral = send_ephemeral or EphemeralReplies(workspace)
        self._edited_at = time.monotonic()
        self._late_until = self._edited_at
        self._failures = Counter[str]()
        self.accepts_files = workspace.has_scope("files:write")

    def has_own_thread(self, place: Place, round_id: str) -> bool:
        """Return whether a round has a thread: under its answer, or under its own mention."""
        asked = event_key(CHAT, place.workspace, f"{place.channel} {place.thread}")
        return place.thread is None or round_id == asked

    def is_direct(self, place: Place) -> bool:
        """Return whether a place is a direct message, outside of a thread."""
        return place.channel.startswith("D") and place.thread is None

    def pages(self, post: Post) -> tuple[Post, ...]:
        """Split the post into posts that each fit into a message; nothing is dropped."""
        return paginate(post, fits_slack)

    async def replies_line(self, place: Place) -> str:
        """Return that replies are read, unless other organisations share the channel."""
        if self.workspace.scope_for_threads(place):
            return ""
        try:
            conversation = await self.workspace.conversation(place.channel)
        except CouncilError:  # the round matters more
            return ""
        return "" if conversation.is_shared else REPLIES_READ

    async def display_name(self, asker_id: str) -> str:
        """Return a user's display name."""
        return await self.workspace.display_name(asker_id)

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Post a message with its key in the metadata, which users do not see."""
        is_reply = key.rpartition("/")[2] not in ROOTS
        await self.workspace.post_limiter(place.channel).acquire(is_reply=is_reply)
        file = next((part for part in post.parts if isinstance(part, File)), None)
        if file:
            words = replace(post, parts=tuple(part for part in post.parts if part is not file))
            return await self._upload(place, file, words, key)
        return await self._post(place, post, key)

    async def _upload(self, place: Place, file: File, words: Post, key: str) -> SentMessage:
        """Upload a file with its words; if Slack refuses the file, post only the words, if any."""
        comment = render_text(words)["text"] if words.parts else ""
        try:
            return SentMessage(place, await upload_file(self._client, place, file, comment))
        except RefusedError as error:
            if error.is_about_token:
                raise
            structlog.get_logger().warning("slack_file_refused", why=error.code)
            if words.parts:
                return await self._post(place, words, key)
            return SentMessage(place, f"{_REFUSED}{error.code}")

    async def _post(self, place: Place, post: Post, key: str) -> SentMessage:
        metadata = {"event_type": "council_round", "event_payload": {"key": key}}

        async def write(payload: Payload) -> AsyncSlackResponse:
            return await self._client.chat_postMessage(
                channel=place.channel,
                thread_ts=place.thread,
                metadata=metadata,
                **payload,
                **NO_PARSING,
                **NO_UNFURL,
            )

        try:
            reply = await self._write(key, post, write)
        except RefusedError as error:
            raise _map_refusal(error) or PostingForbiddenError(str(error)) from None
        # A message to a user is posted in the channel of their direct messages.
        channel = str(reply.get("channel") or place.channel)
        return SentMessage(replace(place, channel=channel), str(reply["ts"]))

    async def _write(
        self, name: str, post: Post, write: Write, max_wait_seconds: float = inf
    ) -> AsyncSlackResponse:
        """Write a post as blocks; as plain text once Slack refuses them, or often fails with them.

        `name` is what the refusals and failures are counted by.
        """
        if self._failures[name] < _MAX_SERVER_ERRORS:
            try:
                return await call_api(partial(write, render_message(post)), max_wait_seconds)
            except SlackServerError:
                self._failures[name] += 1
                raise
            except RefusedError as error:
                if not error.code.startswith(_BLOCK_ERRORS):
                    raise
                structlog.get_logger().warning("slack_blocks_refused", why=error.code)
                self._failures[name] = _MAX_SERVER_ERRORS
        return await call_api(partial(write, render_text(post)), max_wait_seconds)

    async def find(
        self, place: Place, key: str, age_seconds: float | None = None
    ) -> SentMessage | None:
        """Return the message or file that was sent with this key; None if none can be found.

        A limited app sees 15 messages: the newest of a channel, in a thread the first that are not
        older than `age_seconds`.
        """
        limit, seen = self.workspace.history_limit, False
        try:
            if place.channel.startswith(("U", "W")):  # the id of a user
                place = replace(place, channel=await self.workspace.dm_channel(place.channel))
            params: dict[str, Any] = {"channel": place.channel, "include_all_metadata": True}
            method: Callable[..., Any] = self._client.conversations_history
            if place.thread:
                method, params["ts"] = self._client.conversations_replies, place.thread
                if age_seconds is not None and await limit.is_known():
                    params["oldest"] = str(time.time() - age_seconds - _CLOCK_SKEW_SECONDS)
            async for page in read_pages(limit, method, **params):
                seen = True
                if found := _find_key(page, key):
                    return SentMessage(place, found)
        except RateLimitedError as error:
            if not seen:
                raise DeliveryUnknownError(_NO_LOOK) from error
        except RefusedError as error:
            structlog.get_logger().warning("slack_history_unread", why=error.code)
        return None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Replace a message, however long Slack limits the rate.

        If Slack refuses the edit itself, say so in the message and raise MessageGoneError, so that
        the post is sent as a new message.
        """
        update = self._update(sent)
        try:
            async with self.workspace.edit_limiter.prioritize():
                await retry_until_sent(partial(self._write, sent.message, post, update))
        except RefusedError as error:
            if mapped := _map_refusal(error):
                raise mapped from None
            structlog.get_logger().warning("slack_edit_refused", why=error.code)
            with suppress(RefusedError):
                await retry_until_sent(partial(call_api, partial(update, {"text": _MOVED})))
            raise MessageGoneError(_MOVED) from None

    async def wait_for_edit_slot(self, sent: SentMessage) -> None:
        """Wait until the rate limits allow another progress update of the message."""
        await asyncio.sleep(self._edited_at + self.workspace.limits.edit_seconds - time.monotonic())
        await self.workspace.edit_limiter.acquire()

    async def show_progress(self, sent: SentMessage, post: Post) -> None:
        """Replace a message once; a failure is ignored, because the next update follows."""
        self._edited_at = time.monotonic()
        try:
            await self._write("progress", post, self._update(sent), max_wait_seconds=0.0)
        except (CouncilError, asyncio.CancelledError) as error:
            # Slack may still apply an edit that was cancelled or lost.
            if not isinstance(error, RefusedError):
                self._late_until = time.monotonic() + self.workspace.limits.late_seconds
            if isinstance(error, asyncio.CancelledError):
                raise
            structlog.get_logger().debug("slack_progress_not_shown", why=str(error))

    async def finalize(self, sent: SentMessage, post: Post) -> None:
        """Write the message once more when no late edit can overwrite it any longer."""
        seconds = self._late_until - time.monotonic()
        if seconds > 0:
            await asyncio.sleep(seconds)
            with suppress(MessageGoneError):  # somebody read and deleted it
                await self.edit(sent, post)

    def _update(self, sent: SentMessage) -> Write:
        async def write(payload: Payload) -> AsyncSlackResponse:
            # Without `blocks` Slack may keep the old ones.
            return await self._client.chat_update(
                channel=sent.place.channel,
                ts=sent.message,
                **{"blocks": [], **payload},
                **NO_PARSING,
            )

        return write

    async def delete(self, sent: SentMessage) -> None:
        """Delete a message, or a file, whose id begins with F; do nothing if it is gone."""
        client, id_ = self._client, sent.message
        delete: Callable[[], Awaitable[object]]
        if id_.startswith("F"):
            delete = partial(client.files_delete, file=id_)
        elif id_.startswith(_REFUSED):
            return
        else:
            delete = partial(client.chat_delete, channel=sent.place.channel, ts=id_)
        try:
            await retry_until_sent(partial(call_api, delete))
        except RefusedError as error:
            if error.code not in _DELETED:
                raise

    def private_place(self, asker_id: str, place: Place) -> Place:
        """Return the place of a user's direct messages; Slack opens them on the first post."""
        return replace(place, channel=asker_id, thread=None, private=True)

    async def redirect_to_channel(self, said: IncomingMessage, channel: str) -> IncomingMessage:
        """Return the message as if it had been posted in another channel, by name or id."""
        return await redirect_to_channel(self.workspace, said, channel)

    async def check_postable(self, place: Place) -> None:
        """Raise PostingForbiddenError with the reason if nothing can be posted there."""
        self.workspace.forget_channel(place.channel)  # it may have changed since
        await postable_conversation(self.workspace, place.channel)

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        """Send a post that only the asker sees; a file goes to their direct messages."""
        for file in (part for part in post.parts if isinstance(part, File)):
            await self._send_file(said, file)
            note = Note(FILE_SENT.format(name=file.name))
            parts = (note if part is file else part for part in post.parts)
            post = Post(tuple(parts), note.text)
        for page in self.pages(post):
            await self._send_ephemeral(said, page)

    async def _send_file(self, said: IncomingMessage, file: File) -> None:
        """Upload a file to somebody's direct messages; CouncilError if Slack does not allow it."""
        try:
            channel = await self.workspace.dm_channel(said.asker.id)
            place = replace(said.place, channel=channel, thread=None, private=True)
            await upload_file(self._client, place, file)
        except RefusedError as error:
            structlog.get_logger().warning("slack_file_refused", why=error.code)
            raise CouncilError(NO_UPLOAD) from None


def _find_key(messages: list[dict[str, Any]], key: str) -> str | None:
    """Return the timestamp of the message that was sent with a key, if it is among these."""
    for message in messages:
        payload = (message.get("metadata") or {}).get("event_payload") or {}
        names = {file.get("name") for file in message.get("files") or ()}
        # A file has no metadata, but its key ends with its name.
        if payload.get("key") == key or key.rpartition("/")[2] in names:
            return str(message["ts"])
    return None


def _map_refusal(error: RefusedError) -> CouncilError | None:
    """Return what a refusal means to every chat; None if it is about this one message."""
    if error.code in _GONE:
        return MessageGoneError(_GONE[error.code])
    if error.code in _FORBIDDEN:
        return PostingForbiddenError(_FORBIDDEN[error.code])
    if error.code.startswith("restricted_action"):
        return PostingForbiddenError(_FORBIDDEN["restricted_action"])
    return error if error.is_about_token else None
