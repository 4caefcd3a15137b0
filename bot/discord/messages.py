"""Telling only the one who spoke: in answer to an interaction, or by a message to them alone."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import count
from typing import Any, ClassVar, Literal

import aiohttp
import discord
import structlog
from discord import ui

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
    send_first_possible,
)
from bot.discord import events as channels
from bot.discord.components import called_by, dressed, files_of, fits_discord, view_of
from bot.discord.errors import (
    THREAD_THERE,
    UNKNOWN_CHANNEL,
    EditRateLimiter,
    RefusedError,
    insisted,
    is_passing,
    threadless,
    told,
)
from bot.discord.events import CHAT
from bot.render.pagination import pages
from bot.render.text_safety import in_one_line
from council.errors import CouncilError
from council.places import Place

# --- Telling only the one who spoke: in answer to an interaction, or by a message to them alone.

Interaction = discord.Interaction[Any]
_THINKING = {discord.InteractionResponseType.deferred_channel_message}
Way = Callable[..., Awaitable[object]]
_NOBODY = discord.AllowedMentions.none()
_ACKNOWLEDGED = 40060
PATIENCE_SECONDS = 60.0


async def thinking(interaction: Interaction) -> None:
    """Acknowledge an interaction, to be answered in private."""
    await _acknowledged(partial(interaction.response.defer, ephemeral=True, thinking=True))


async def replaced(interaction: Interaction, post: Post) -> None:
    """Acknowledge a press by putting this in place of the message that was pressed."""
    answer = interaction.response.edit_message
    await _acknowledged(lambda: answer(view=view_of(dressed(post)), allowed_mentions=_NOBODY))


async def _acknowledged(how: Way) -> None:
    """Acknowledge an interaction in this way, through a lost connection too."""
    for is_last in (False, False, True):
        try:
            await how()
        except aiohttp.ClientError:
            if is_last:
                raise
        except discord.HTTPException as error:
            if error.code != _ACKNOWLEDGED:
                raise
            return
        else:
            return


class EphemeralReplies:
    """Answers one interaction, which has been deferred, in private."""

    def __init__(self, interaction: Interaction) -> None:
        self._interaction = interaction
        self._has_spoken = False

    async def __call__(self, said: IncomingMessage, post: Post) -> None:
        """Tell the one who spoke; an interaction lasts 15 minutes, then it is a direct message."""
        way = self._in_place if self._thinks and not self._has_spoken else self._after
        self._has_spoken = True
        try:
            await insisted(lambda: self._answered(post, way), PATIENCE_SECONDS)
        except CouncilError as error:
            structlog.get_logger().warning("discord_whisper_lost", key=said.key, why=str(error))

    async def end(self) -> None:
        """Take away "is thinking …" where there is nothing to say."""
        if self._thinks and not self._has_spoken:
            with suppress(CouncilError), told():
                await self._interaction.delete_original_response()

    @property
    def _thinks(self) -> bool:
        return self._interaction.response.type in _THINKING

    async def _answered(self, post: Post, way: Callable[[ui.LayoutView], Awaitable[None]]) -> None:
        try:
            await way(view_of(dressed(post)))
        except discord.HTTPException as error:
            if is_passing(error):
                raise
            # The interaction is over, or its place is closed.
            await self._interaction.user.send(view=view_of(dressed(post)), allowed_mentions=_NOBODY)

    async def _in_place(self, view: ui.LayoutView) -> None:
        """Answer where the bot is shown to be thinking; made twice, it is there once."""
        await self._interaction.edit_original_response(view=view, allowed_mentions=_NOBODY)

    async def _after(self, view: ui.LayoutView) -> None:
        await self._interaction.followup.send(view=view, ephemeral=True, allowed_mentions=_NOBODY)


class MessageReplies:
    """Answers a message where it was written: nothing there can be shown to one person alone."""

    def __init__(self, message: discord.Message) -> None:
        self._message = message
        self._nonces = count(message.id)

    async def __call__(self, said: IncomingMessage, post: Post) -> None:
        """Tell the one who spoke: under what they said, else beside it, else to them alone."""
        message = self._message
        reply = partial(message.reply, mention_author=False)
        ways = (reply, message.channel.send, message.author.send)
        sends = (partial(self._sent, way, post, next(self._nonces)) for way in ways)
        try:
            await send_first_possible(sends, PATIENCE_SECONDS)
        except CouncilError as error:
            structlog.get_logger().warning("discord_whisper_lost", key=said.key, why=str(error))

    async def _sent(self, way: Way, post: Post, nonce: int) -> None:
        view = view_of(dressed(post))
        with told():
            await way(view=view, nonce=nonce, allowed_mentions=_NOBODY, silent=True)


async def nobody(said: IncomingMessage, post: Post) -> None:
    """Tell nobody: after a restart there is no way back to the one who spoke."""
    summary = post.summary or said.key
    structlog.get_logger().info("discord_whisper_to_nobody", key=said.key, told=summary)


# --- Discord as a chat: posts become Components V2 messages, a round's replies a thread under it.

EDIT_SECONDS = 2.0
MOST_MESSAGES = 1_000  # as far back as a message is looked for
A_DAY: Literal[1440] = 1440  # minutes after which a thread without words is folded away
THREAD_NAME = 100
ALONE = "@"  # before a user's id, it is the channel of their direct messages


class DiscordChat(Chat):
    """The way to people in the guilds the bot is in; `whisper` is how one of them is reached."""

    is_room = True
    tick_seconds: ClassVar[float] = 15.0

    def __init__(
        self,
        client: discord.Client,
        names: dict[str, str],
        edits: EditRateLimiter,
        whisper: SendEphemeral,
        *,
        keeps_files: bool = True,
    ) -> None:
        self._client = client
        self._names = names
        self._edits = edits
        self._whisper = whisper
        self._written_at = time.monotonic()
        self._titles: dict[str, str] = {}  # of messages, for the threads under them
        self.keeps_files = keeps_files

    def pages(self, post: Post) -> tuple[Post, ...]:
        """Give the post as so many that each fits in a message; nothing is dropped."""
        return pages(post, fits_discord)

    async def named(self, asker_id: str) -> str:
        """Give the name somebody goes by; the id where Discord does not tell."""
        if asker_id not in self._names:
            try:
                with told():
                    user = await self._client.fetch_user(int(asker_id))
                self._names[asker_id] = user.display_name
            except (CouncilError, ValueError):
                return asker_id
        return self._names[asker_id]

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Post a message; its key goes with it as the number of its first component."""
        try:
            with told():
                place = await self._reached(place)
                message = await self._sent_in_thread(place, post, key)
        except RefusedError as error:
            if error.is_about_token:
                raise
            if _holds_file(post):
                structlog.get_logger().warning("discord_file_refused", why=error.code)
                return SentMessage(place, f"refused: {error.code}")
            raise PostingForbiddenError(str(error)) from None
        self._titles[str(message.id)] = _title(post)
        return SentMessage(place, str(message.id))

    def private_place(self, asker_id: str, place: Place) -> Place:
        """Give the place where nobody else reads."""
        return Place(CHAT, channel=f"{ALONE}{asker_id}", private=True)

    async def _reached(self, place: Place) -> Place:
        """Give the place as Discord knows it: it opens direct messages for who asks for them."""
        if not place.channel.startswith(ALONE):
            return place
        user = await self._client.fetch_user(int(place.channel.removeprefix(ALONE)))
        return replace(place, channel=str((await user.create_dm()).id))

    async def _sent_in_thread(self, place: Place, post: Post, key: str) -> discord.Message:
        """Post a message; the first reply to one opens its thread, which has the message's id."""
        try:
            return await self._sent(place, post, key)
        except discord.HTTPException as error:
            if not _is_threaded(place):
                raise
            if error.code != UNKNOWN_CHANNEL:
                raise threadless(error, _needed(post)) from None
        await self._open_thread(place)
        try:
            return await self._sent(place, post, key)
        except discord.HTTPException as error:
            raise threadless(error, _needed(post)) from None

    async def _sent(self, place: Place, post: Post, key: str) -> discord.Message:
        where = self._where(place)
        message = dressed(post)
        await self._edits.room()
        return await where.send(
            view=view_of(message, mark_of(key)),
            files=files_of(message),
            nonce=mark_of(key),  # within minutes Discord itself sends no message twice
            silent=not message.called,
            allowed_mentions=called_by(message),
        )

    async def _open_thread(self, place: Place) -> None:
        root_id = place.thread or ""
        root = self._message(Place(CHAT, place.workspace, place.within), root_id)
        name = _thread_name(self._titles.get(root_id, ""))
        await self._edits.room()
        try:
            await root.create_thread(name=name, auto_archive_duration=A_DAY)
        except discord.HTTPException as error:
            if error.code == UNKNOWN_CHANNEL:  # of the answer itself
                raise
            if error.code != THREAD_THERE:
                raise threadless(error, "Create Public Threads") from None

    async def find(self, place: Place, key: str) -> SentMessage | None:
        """Give the message that was posted with this key."""
        with told():
            place = await self._reached(place)
            try:
                async for message in self._where(place).history(limit=MOST_MESSAGES):
                    if message.author == self._client.user and _mark_in(message) == mark_of(key):
                        return SentMessage(place, str(message.id))
            except discord.NotFound:
                return None
        return None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Replace a message, however long Discord cannot be reached before."""
        self._titles[sent.message] = _title(post)
        self._edits.answered(_channel_of(sent.place), sent.message)
        try:
            await insisted(lambda: self._edited(sent, post))
        except RefusedError as error:
            if error.is_about_token:
                raise
            # Whatever Discord has against this edit, a new message may do.
            structlog.get_logger().warning("discord_edit_refused", why=error.code)
            raise MessageGoneError(str(error)) from None

    async def _edited(self, sent: SentMessage, post: Post) -> None:
        message = self._message(sent.place, sent.message)
        await message.edit(
            view=view_of(dressed(post)),
            allowed_mentions=discord.AllowedMentions.none(),
        )

    def _where(self, place: Place) -> discord.PartialMessageable:
        guild = int(place.workspace) if place.workspace else None
        return self._client.get_partial_messageable(int(_channel_of(place)), guild_id=guild)

    def _message(self, place: Place, message: str) -> discord.PartialMessage:
        return self._where(place).get_partial_message(int(message))

    async def turn(self, sent: SentMessage) -> None:
        """Wait until message and channel bear another sight of progress."""
        await asyncio.sleep(self._written_at + EDIT_SECONDS - time.monotonic())
        await self._edits.turn(_channel_of(sent.place), sent.message)

    async def show_progress(self, sent: SentMessage, post: Post) -> None:
        """Replace a message for the time being; the next sight makes up for one that fails."""
        self._written_at = time.monotonic()
        try:
            with told():
                await self._edited(sent, post)
        except CouncilError as error:
            structlog.get_logger().debug("discord_progress_not_shown", why=str(error))

    async def in_channel(self, said: IncomingMessage, channel: str) -> IncomingMessage:
        """Give what was said as if it were said in another channel, named or by its id."""
        return await channels.elsewhere(self._client, said, channel)

    async def check_postable(self, place: Place) -> None:
        """Raise PostingForbiddenError with the reason if nothing can be posted there."""
        await channels.check_postable(self._client, place)

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        """Tell only the one who spoke."""
        for page in self.pages(post):
            await self._whisper(said, page)


def mark_of(key: str) -> int:
    """Give the number that a message is found by: 30 bits of its key's digest, never 0."""
    return int.from_bytes(sha256(key.encode()).digest()[:4]) >> 2 | 1


def _mark_in(message: discord.Message) -> int | None:
    return getattr(message.components[0], "id", None) if message.components else None


def _is_threaded(place: Place) -> bool:
    """Say whether a place is a thread: direct messages have none, replies just follow there."""
    return bool(place.thread and place.workspace)


def _channel_of(place: Place) -> str:
    """Give the channel, or the thread, that messages of a place stand in."""
    return place.thread if place.thread and _is_threaded(place) else place.within


def _holds_file(post: Post) -> bool:
    return any(isinstance(part, File) for part in post.parts)


def _needed(post: Post) -> str:
    """Give what is needed to post in a thread."""
    return (
        "Attach Files and Send Messages in Threads"
        if _holds_file(post)
        else "Send Messages in Threads"
    )


def _title(post: Post) -> str:
    return next((part.text for part in post.parts if isinstance(part, Heading)), post.summary)


def _thread_name(title: str) -> str:
    return in_one_line(title, THREAD_NAME) or "The council"
