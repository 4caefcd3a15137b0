"""Discord messages: DiscordChat posts, edits and finds them, and opens threads."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any, ClassVar, Literal

import discord
import structlog

from bot.chat import (
    Chat,
    File,
    Heading,
    IncomingMessage,
    MessageGoneError,
    Post,
    PostingForbiddenError,
    SendEphemeral,
    SentMessage,
)
from bot.discord import events
from bot.discord.components import (
    allowed_mentions,
    build_files,
    build_view,
    fits_discord,
    render_components,
)
from bot.discord.errors import (
    THREAD_EXISTS,
    UNKNOWN_CHANNEL,
    EditRateLimiter,
    RefusedError,
    call_with_retries,
    thread_error,
    translate_errors,
)
from bot.discord.events import CHAT
from bot.render.pagination import paginate
from bot.render.text_safety import shorten_to_line
from council.errors import CouncilError
from council.places import Place

Interaction = discord.Interaction[Any]
Call = Callable[..., Awaitable[object]]
REPLY_TIMEOUT_SECONDS = 60.0
MIN_EDIT_INTERVAL_SECONDS = 2.0
MAX_SEARCHED_MESSAGES = 1_000  # of a channel's history
ARCHIVE_AFTER_MINUTES: Literal[1440] = 1440  # without a message in a thread
MAX_THREAD_NAME_LENGTH = 100
DIRECT_PREFIX = "@"  # before a user's id, it is the channel of their direct messages
NO_MENTIONS = discord.AllowedMentions.none()


class DiscordChat(Chat):
    """Chat adapter: posts become Components V2 messages, a round's replies a thread under it."""

    is_room = True
    tick_seconds: ClassVar[float] = 15.0

    def __init__(
        self,
        client: discord.Client,
        names: dict[str, str],
        edits: EditRateLimiter,
        send_ephemeral: SendEphemeral,
        *,
        accepts_files: bool = True,
    ) -> None:
        self._client = client
        self._names = names
        self._edits = edits
        self._send_ephemeral = send_ephemeral
        self._edited_at = time.monotonic()
        self._titles: dict[str, str] = {}  # of messages, for the threads under them
        self.accepts_files = accepts_files

    def pages(self, post: Post) -> tuple[Post, ...]:
        """Split a post into posts that each fit into one message; nothing is dropped."""
        return paginate(post, fits_discord)

    async def display_name(self, asker_id: str) -> str:
        """Return a user's display name, or the id if Discord does not return the user."""
        if asker_id not in self._names:
            try:
                with translate_errors():
                    user = await self._client.fetch_user(int(asker_id))
                self._names[asker_id] = user.display_name
            except (CouncilError, ValueError):
                return asker_id
        return self._names[asker_id]

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Post a message; a number derived from `key` is its nonce and its first component's id."""
        try:
            with translate_errors():
                place = await self._resolve(place)
                message = await self._send_opening_thread(place, post, key)
        except RefusedError as error:
            if error.is_about_token:
                raise
            if _has_file(post):
                structlog.get_logger().warning("discord_file_refused", why=error.code)
                return SentMessage(place, f"refused: {error.code}")
            raise PostingForbiddenError(str(error)) from None
        self._titles[str(message.id)] = _title(post)
        return SentMessage(place, str(message.id))

    def private_place(self, asker_id: str, place: Place) -> Place:
        """Return the place of a user's direct messages."""
        return Place(CHAT, channel=f"{DIRECT_PREFIX}{asker_id}", private=True)

    async def _resolve(self, place: Place) -> Place:
        """Return the place with the channel's own id; opens the channel of direct messages."""
        if not place.channel.startswith(DIRECT_PREFIX):
            return place
        user = await self._client.fetch_user(int(place.channel.removeprefix(DIRECT_PREFIX)))
        return replace(place, channel=str((await user.create_dm()).id))

    async def _send_opening_thread(self, place: Place, post: Post, key: str) -> discord.Message:
        """Post a message; the first reply to a message opens its thread, which has the same id."""
        try:
            return await self._send(place, post, key)
        except discord.HTTPException as error:
            if not _is_thread(place):
                raise
            if error.code != UNKNOWN_CHANNEL:
                raise thread_error(error, _needed_permissions(post)) from None
        await self._open_thread(place)
        try:
            return await self._send(place, post, key)
        except discord.HTTPException as error:
            raise thread_error(error, _needed_permissions(post)) from None

    async def _send(self, place: Place, post: Post, key: str) -> discord.Message:
        channel = self._channel(place)
        message = render_components(post)
        await self._edits.acquire_call()
        return await channel.send(
            view=build_view(message, nonce_of(key)),
            files=build_files(message),
            nonce=nonce_of(key),  # Discord itself drops a duplicate within minutes
            silent=not message.mentioned,
            allowed_mentions=allowed_mentions(message),
        )

    async def _open_thread(self, place: Place) -> None:
        root_id = place.thread or ""
        root = self._message(Place(CHAT, place.workspace, place.within), root_id)
        title = self._titles.get(root_id, "")
        name = shorten_to_line(title, MAX_THREAD_NAME_LENGTH) or "The council"
        await self._edits.acquire_call()
        try:
            await root.create_thread(name=name, auto_archive_duration=ARCHIVE_AFTER_MINUTES)
        except discord.HTTPException as error:
            if error.code == UNKNOWN_CHANNEL:  # of the answer itself
                raise
            if error.code != THREAD_EXISTS:
                raise thread_error(error, "Create Public Threads") from None

    async def find(self, place: Place, key: str) -> SentMessage | None:
        """Return the message that was posted with this key, or None."""
        with translate_errors():
            place = await self._resolve(place)
            try:
                async for message in self._channel(place).history(limit=MAX_SEARCHED_MESSAGES):
                    if message.author == self._client.user and _mark_in(message) == nonce_of(key):
                        return SentMessage(place, str(message.id))
            except discord.NotFound:
                return None
        return None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Replace a message; retry for as long as Discord cannot be reached."""
        self._titles[sent.message] = _title(post)
        self._edits.record_answer(_channel_id(sent.place), sent.message)
        try:
            await call_with_retries(lambda: self._edit(sent, post))
        except RefusedError as error:
            if error.is_about_token:
                raise
            # Discord may accept as a new message what it refuses as an edit.
            structlog.get_logger().warning("discord_edit_refused", why=error.code)
            raise MessageGoneError(str(error)) from None

    async def _edit(self, sent: SentMessage, post: Post) -> None:
        message = self._message(sent.place, sent.message)
        await message.edit(view=build_view(render_components(post)), allowed_mentions=NO_MENTIONS)

    def _channel(self, place: Place) -> discord.PartialMessageable:
        guild = int(place.workspace) if place.workspace else None
        return self._client.get_partial_messageable(int(_channel_id(place)), guild_id=guild)

    def _message(self, place: Place, message: str) -> discord.PartialMessage:
        return self._channel(place).get_partial_message(int(message))

    async def wait_for_edit_slot(self, sent: SentMessage) -> None:
        """Wait until the rate limits of message and channel allow another progress edit."""
        await asyncio.sleep(self._edited_at + MIN_EDIT_INTERVAL_SECONDS - time.monotonic())
        await self._edits.acquire_edit(_channel_id(sent.place), sent.message)

    async def show_progress(self, sent: SentMessage, post: Post) -> None:
        """Replace a message once, without retries: the next progress edit corrects a failed one."""
        self._edited_at = time.monotonic()
        try:
            with translate_errors():
                await self._edit(sent, post)
        except CouncilError as error:
            structlog.get_logger().debug("discord_progress_not_shown", why=str(error))

    async def redirect_to_channel(self, incoming: IncomingMessage, channel: str) -> IncomingMessage:
        """Return the message as if it were sent in another channel, given by name or id."""
        return await events.move_to_channel(self._client, incoming, channel)

    async def check_postable(self, place: Place) -> None:
        """Raise PostingForbiddenError, with the reason, if nothing can be posted there."""
        await events.check_postable(self._client, place)

    async def send_ephemeral(self, incoming: IncomingMessage, post: Post) -> None:
        """Send a post to the user alone."""
        for page in self.pages(post):
            await self._send_ephemeral(incoming, page)


def nonce_of(key: str) -> int:
    """Return the number by which a message is found: 30 bits of its key's digest, never 0."""
    return int.from_bytes(sha256(key.encode()).digest()[:4]) >> 2 | 1


def _mark_in(message: discord.Message) -> int | None:
    return getattr(message.components[0], "id", None) if message.components else None


def _is_thread(place: Place) -> bool:
    """Return whether a place is a thread; replies in direct messages follow in the channel."""
    return bool(place.thread and place.workspace)


def _channel_id(place: Place) -> str:
    """Return the id of the channel or thread that contains the messages of a place."""
    return place.thread if place.thread and _is_thread(place) else place.within


def _has_file(post: Post) -> bool:
    return any(isinstance(part, File) for part in post.parts)


def _needed_permissions(post: Post) -> str:
    """Return the permissions needed to post in a thread."""
    threads = "Send Messages in Threads"
    return f"Attach Files and {threads}" if _has_file(post) else threads


def _title(post: Post) -> str:
    return next((part.text for part in post.parts if isinstance(part, Heading)), post.summary)
