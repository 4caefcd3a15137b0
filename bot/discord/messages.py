"""Discord messages: DiscordChat posts, edits and finds them, and opens threads."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, ClassVar

import discord
import structlog

from bot.chat import (
    Chat,
    EndsWaiting,
    File,
    Heading,
    IncomingMessage,
    MessageGoneError,
    Post,
    PostingForbiddenError,
    SendEphemeral,
    SentMessage,
)
from bot.discord.components import (
    MentionCommands,
    allowed_mentions,
    build_files,
    build_view,
    fits_discord,
    render_components,
    silent_edit,
)
from bot.discord.errors import (
    ARCHIVED,
    INVALID_TOKEN,
    THREAD_EXISTS,
    UNKNOWN_CHANNEL,
    UNKNOWN_WEBHOOK,
    EditRateLimiter,
    RefusedError,
    call_with_retries,
    thread_error,
    translate_errors,
)
from bot.discord.events import GuildTextChannel, check_can_post_in, place_of
from bot.discord.shards import CHAT
from bot.render.pagination import paginate
from bot.render.text_safety import shorten_to_line
from council.errors import CouncilError
from council.places import Place

Interaction = discord.Interaction[Any]
Call = Callable[..., Awaitable[object]]
REPLY_TIMEOUT_SECONDS = 60.0
REPLIES_READ = "Replies in this thread are read when somebody asks me here again."
MENTIONS_READ = (
    "Replies in this thread that mention me are read when somebody asks me here again; Discord "
    "doesn't show me the others."
)
TOO_LATE = "This message can no longer be edited, because 15 minutes have passed."
DIRECT_PREFIX = "@"  # before a user's id, it is the channel of their direct messages


@dataclass(frozen=True, slots=True)
class ClientState:
    """What the chats of one client share: display names, rate limits, and open interactions.

    `interactions` has, by message, those that alone can edit it for 15 minutes.
    """

    names: dict[str, str] = field(default_factory=dict)
    edits: EditRateLimiter = field(default_factory=EditRateLimiter)
    interactions: dict[str, Interaction] = field(default_factory=dict)


class DiscordChat(Chat):
    """Chat adapter: posts become Components V2 messages, a round's replies a thread under it."""

    is_room = True
    tick_seconds: ClassVar[float] = 15.0
    replies_privately = True

    def __init__(
        self,
        client: discord.Client,
        state: ClientState,
        send_ephemeral: SendEphemeral,
        *,
        accepts_files: bool = True,
        mention_commands: MentionCommands = str,
    ) -> None:
        self._client = client
        self._names = state.names
        self._edits = state.edits
        self._interactions = state.interactions
        self._send_ephemeral = send_ephemeral
        self._edited_at = time.monotonic()
        self._titles: dict[str, str] = {}  # by message, for a thread that is still to be opened
        self.accepts_files = accepts_files
        self._mention_commands = mention_commands

    def has_own_thread(self, place: Place, round_id: str) -> bool:
        """Return whether a round has a thread there: none in a thread or in direct messages."""
        return bool(place.workspace) and place.thread is None

    def is_direct(self, place: Place) -> bool:
        """Return whether a place is a direct message."""
        return not place.workspace

    def pages(self, post: Post) -> tuple[Post, ...]:
        """Split a post into posts that each fit into one message; nothing is dropped."""
        return paginate(post, lambda page: fits_discord(page, self._mention_commands))

    async def replies_line(self, place: Place) -> str:
        """Return which replies are read: without an intent, only those that mention the bot."""
        if not place.workspace:
            return ""
        flags = getattr(self._client, "application_flags", None)  # unknown before it is ready
        reads_all = flags and (
            flags.gateway_message_content or flags.gateway_message_content_limited
        )
        return REPLIES_READ if reads_all else MENTIONS_READ

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
                words = tuple(part for part in post.parts if not isinstance(part, File))
                if words:
                    return await self.send(place, replace(post, parts=words), key)
                return SentMessage(place, f"refused: {error.code}")
            raise PostingForbiddenError(str(error)) from None
        self._note_title(str(message.id), post)
        return SentMessage(place, str(message.id))

    def private_place(self, asker_id: str, place: Place) -> Place:
        """Return the place of a user's direct messages."""
        return Place(CHAT, channel=f"{DIRECT_PREFIX}{asker_id}", private=True)

    async def _resolve(self, place: Place) -> Place:
        if not place.channel.startswith(DIRECT_PREFIX):
            return place
        user = await self._client.fetch_user(int(place.channel.removeprefix(DIRECT_PREFIX)))
        return replace(place, channel=str((await user.create_dm()).id))

    async def _send_opening_thread(self, place: Place, post: Post, key: str) -> discord.Message:
        """Post a message; the first reply to a message opens its thread, which has the same id."""
        needed = "Attach Files and " * _has_file(post) + "Send Messages in Threads"
        if _is_thread(place) and place.thread in self._titles:
            await self._open_thread(place)
        try:
            return await self._send(place, post, key)
        except discord.HTTPException as error:
            if not _is_thread(place):
                raise
            if error.code != UNKNOWN_CHANNEL:
                raise thread_error(error, needed) from None
        await self._open_thread(place)
        try:
            return await self._send(place, post, key)
        except discord.HTTPException as error:
            raise thread_error(error, needed) from None

    async def _send(self, place: Place, post: Post, key: str) -> discord.Message:
        channel = self._channel(place)
        message = render_components(post, self._mention_commands)
        if _is_thread(place):  # a root goes first
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
        name = _thread_name(self._titles.get(root_id, ""))
        await self._edits.acquire_call()
        try:
            await root.create_thread(name=name, auto_archive_duration=1440)  # a day
        except discord.HTTPException as error:
            if error.code == UNKNOWN_CHANNEL:  # of the answer itself
                raise
            if error.code != THREAD_EXISTS:
                raise thread_error(error, "Create Public Threads") from None
        self._titles.pop(root_id, None)

    def _note_title(self, message: str, post: Post) -> None:
        """Remember the question as the title of a thread: an answer may not repeat it."""
        title = next((part.text for part in post.parts if isinstance(part, Heading)), "")
        # The summary of a running round is its question and its progress.
        about = post.summary.partition(" · ")[0]
        self._titles[message] = title or self._titles.get(message) or about

    async def find(
        self, place: Place, key: str, age_seconds: float | None = None
    ) -> SentMessage | None:
        """Return the message that was posted with this key, or None."""
        with translate_errors():
            place = await self._resolve(place)
            try:
                async for message in self._channel(place).history(limit=1_000):
                    mark = getattr(message.components[0], "id", 0) if message.components else 0
                    if message.author == self._client.user and mark == nonce_of(key):
                        return SentMessage(place, str(message.id))
            except discord.NotFound:
                return None
        return None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Replace a message; retry for as long as Discord cannot be reached."""
        self._note_title(sent.message, post)
        try:
            await call_with_retries(lambda: self._edit(sent, post))
        except RefusedError as error:
            if error.is_about_token:
                raise
            # Discord may accept as a new message what it refuses as an edit.
            structlog.get_logger().warning("discord_edit_refused", why=error.code)
            raise MessageGoneError(str(error)) from None

    async def _edit(self, sent: SentMessage, post: Post) -> None:
        mention = self._mention_commands
        if interaction := self._interactions.get(sent.message):
            await self._edit_outside(interaction, sent.message, post)
            return
        message = self._message(sent.place, sent.message)
        await self._in_open_thread(sent.place, lambda: message.edit(**silent_edit(post, mention)))

    async def _edit_outside(self, interaction: Interaction, message: str, post: Post) -> None:
        """Edit a message in a place that the bot is not in."""
        arguments = silent_edit(post, self._mention_commands)
        try:
            await interaction.followup.edit_message(int(message), **arguments)
        except discord.HTTPException as error:
            if error.code not in {UNKNOWN_WEBHOOK, INVALID_TOKEN}:
                raise
            del self._interactions[message]
            raise MessageGoneError(TOO_LATE) from None

    async def delete(self, sent: SentMessage) -> None:
        """Delete a message of ours; do nothing if it is gone already."""
        message = self._message(sent.place, sent.message)

        async def delete() -> None:
            with suppress(discord.NotFound):
                await self._in_open_thread(sent.place, message.delete)

        await call_with_retries(delete, REPLY_TIMEOUT_SECONDS)

    async def rename_thread(self, root: SentMessage, name: str) -> None:
        """Rename the thread under a message of ours, if any; an archived one is archived again."""

        async def rename() -> None:
            with suppress(discord.NotFound):
                thread = await self._client.fetch_channel(int(root.message))
                if isinstance(thread, discord.Thread):
                    if was_archived := thread.archived:
                        await thread.edit(archived=False)
                    await thread.edit(name=_thread_name(name))
                    if was_archived:
                        await thread.edit(archived=True)

        await call_with_retries(rename, REPLY_TIMEOUT_SECONDS)

    async def _in_open_thread(self, place: Place, call: Call) -> None:
        """Make a call about a message; reopen its thread if that is archived."""
        try:
            await call()
        except discord.HTTPException as error:
            if error.code != ARCHIVED or not place.thread:
                raise
            thread = await self._client.fetch_channel(int(place.thread))
            if not isinstance(thread, discord.Thread) or thread.locked:
                raise
            await thread.edit(archived=False)
            await call()

    def _channel(self, place: Place) -> discord.PartialMessageable:
        guild = int(place.workspace) if place.workspace else None
        return self._client.get_partial_messageable(int(_channel_id(place)), guild_id=guild)

    def _message(self, place: Place, message: str) -> discord.PartialMessage:
        return self._channel(place).get_partial_message(int(message))

    async def wait_for_edit_slot(self, sent: SentMessage) -> None:
        """Wait until the rate limits of message and channel allow another progress edit."""
        await asyncio.sleep(self._edited_at + 2.0 - time.monotonic())
        await self._edits.acquire_edit(_channel_id(sent.place))

    async def show_progress(self, sent: SentMessage, post: Post) -> None:
        """Replace a message once, without retries: the next progress edit corrects a failed one."""
        self._edited_at = time.monotonic()
        try:
            with translate_errors():
                await self._edit(sent, post)
        except CouncilError as error:
            structlog.get_logger().debug("discord_progress_not_shown", why=str(error))

    async def redirect_to_channel(self, incoming: IncomingMessage, channel: str) -> IncomingMessage:
        """Return the message as if it were sent in another channel of the server."""
        guild = self._guild(incoming.place)
        if guild is None:
            raise PostingForbiddenError(
                f"Direct messages have no channels, so leave #{channel} out."
            )
        with translate_errors():
            member = await guild.fetch_member(int(incoming.asker.id))
            channels = await guild.fetch_channels()
        # Several channels may have the same name.
        for found in channels:
            is_match = channel.casefold() in {str(found.id), found.name.casefold()}
            if (
                is_match
                and isinstance(found, GuildTextChannel)
                and found.permissions_for(member).view_channel
            ):
                check_can_post_in(found, guild)
                return replace(incoming, place=place_of(found, guild.id), is_direct=False)
        name = channel if channel.isdecimal() else f"#{channel}"
        raise PostingForbiddenError(
            f"There is no channel {name} in this server that you and I can both see. Pick one "
            "with #."
        )

    async def check_postable(self, place: Place) -> None:
        """Raise PostingForbiddenError if the channel is gone or the bot may not post in it."""
        if not place.workspace:
            return
        if (guild := self._guild(place)) is None:
            why = "I am no longer in the server where this would be posted."
            raise PostingForbiddenError(why)
        with translate_errors():
            channel = await guild.fetch_channel(int(place.within))
        if isinstance(channel, GuildTextChannel):
            check_can_post_in(channel, guild)

    def _guild(self, place: Place) -> discord.Guild | None:
        return self._client.get_guild(int(place.workspace)) if place.workspace else None

    async def end_waiting(self) -> None:
        """Remove "is thinking …"."""
        sender: object = self._send_ephemeral
        if isinstance(sender, EndsWaiting):
            await sender.end_waiting()

    async def send_ephemeral(self, incoming: IncomingMessage, post: Post) -> None:
        """Send a post to the user alone."""
        for page in self.pages(post):
            await self._send_ephemeral(incoming, page)


def nonce_of(key: str) -> int:
    """Return the number by which a message is found: 30 bits of its key's digest, never 0."""
    return int.from_bytes(sha256(key.encode()).digest()[:4]) >> 2 | 1


def _is_thread(place: Place) -> bool:
    """Return whether a place is a thread; replies in direct messages follow in the channel."""
    return bool(place.thread and place.workspace)


def _channel_id(place: Place) -> str:
    return place.thread if place.thread and _is_thread(place) else place.within


def _has_file(post: Post) -> bool:
    return any(isinstance(part, File) for part in post.parts)


def _thread_name(title: str) -> str:
    return shorten_to_line(title, 100) or "The council"
