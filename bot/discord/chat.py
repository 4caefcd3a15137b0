"""Discord as a chat: posts become Components V2 messages, a round's replies a thread under it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from hashlib import sha256
from typing import ClassVar, Literal

import discord
import structlog

from bot.chat import Chat, Post, Said, Sent
from bot.discord.dress import dressed
from bot.discord.faults import NO_PERMISSION, THREAD_THERE, UNKNOWN_CHANNEL, insisted, told
from bot.discord.fits import fits_discord
from bot.discord.hearing import CHAT
from bot.discord.views import files_of, view_of
from bot.render.paging import pages
from council.errors import CouncilError
from council.places import Place

EDIT_SECONDS = 2.0
MOST_MESSAGES = 1_000  # as far back as a message is looked for
A_DAY: Literal[1440] = 1440  # minutes after which a thread without words is folded away
THREAD_NAME = 100
ALONE = "@"  # before a user's id, it is the channel of their direct messages
NO_THREAD = "no thread"  # the buttons under the answer show what would be in it

Whisper = Callable[[Said, Post], Awaitable[None]]


class DiscordChat(Chat):
    """The way to people in the guilds the bot is in; `whisper` is how one of them is reached."""

    is_room = True
    tick_seconds: ClassVar[float] = 15.0
    keeps_files = True

    def __init__(self, client: discord.Client, names: dict[str, str], whisper: Whisper) -> None:
        self._client = client
        self._names = names
        self._whisper = whisper
        self._written_at = time.monotonic()

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

    async def send(self, place: Place, post: Post, key: str) -> Sent:
        """Post a message; its key goes with it as the number of its first component."""
        with told():
            if place.channel.startswith(ALONE):
                user = await self._client.fetch_user(int(place.channel.removeprefix(ALONE)))
                place = replace(place, channel=str((await user.create_dm()).id))
            try:
                message = await self._sent(place, post, key)
            except discord.NotFound as error:
                # The first reply: a message's thread has its id.
                if error.code != UNKNOWN_CHANNEL or not place.thread:
                    raise
                if not await self._has_thread(place, post):
                    return Sent(place, NO_THREAD)
                message = await self._sent(place, post, key)
        return Sent(place, str(message.id))

    def alone_with(self, asker_id: str, place: Place) -> Place:
        """Give the place where nobody else reads."""
        return Place(CHAT, channel=f"{ALONE}{asker_id}", private=True)

    async def _sent(self, place: Place, post: Post, key: str) -> discord.Message:
        where = self._where(place)
        message = dressed(post)
        return await where.send(
            view=view_of(message, mark_of(key)),
            files=files_of(message),
            nonce=mark_of(key),  # within minutes Discord itself sends no message twice
            silent=True,
            allowed_mentions=discord.AllowedMentions.none(),
        )

    async def _has_thread(self, place: Place, post: Post) -> bool:
        """Open the thread under a message; False where threads may not be opened there."""
        root = self._message(replace(place, thread=None), place.thread or "")
        try:
            await root.create_thread(name=_thread_name(post), auto_archive_duration=A_DAY)
        except discord.HTTPException as error:
            if error.code == NO_PERMISSION:
                structlog.get_logger().warning("discord_no_thread", channel=place.channel)
                return False
            if error.code != THREAD_THERE:
                raise
        return True

    async def find(self, place: Place, key: str) -> Sent | None:
        """Give the message that was posted with this key."""
        where = self._where(place)
        with told():
            try:
                async for message in where.history(limit=MOST_MESSAGES):
                    if message.author == self._client.user and _mark_in(message) == mark_of(key):
                        return Sent(place, str(message.id))
            except discord.NotFound:
                return None
        return None

    async def edit(self, sent: Sent, post: Post) -> None:
        """Replace a message."""
        await insisted(lambda: self._edited(sent, post), asyncio.sleep)

    async def _edited(self, sent: Sent, post: Post) -> None:
        message = self._message(sent.place, sent.message)
        await message.edit(
            view=view_of(dressed(post)),
            allowed_mentions=discord.AllowedMentions.none(),
        )

    def _where(self, place: Place) -> discord.PartialMessageable:
        guild = int(place.workspace) if place.workspace else None
        return self._client.get_partial_messageable(
            int(place.thread or place.channel), guild_id=guild
        )

    def _message(self, place: Place, message: str) -> discord.PartialMessage:
        return self._where(place).get_partial_message(int(message))

    async def turn(self) -> None:
        """Wait until the message bears another sight of progress."""
        await asyncio.sleep(self._written_at + EDIT_SECONDS - time.monotonic())

    async def show_progress(self, sent: Sent, post: Post) -> None:
        """Replace a message for the time being; the next sight makes up for one that fails."""
        self._written_at = time.monotonic()
        try:
            with told():
                await self._edited(sent, post)
        except CouncilError as error:
            structlog.get_logger().debug("discord_progress_not_shown", why=str(error))

    async def whisper(self, said: Said, post: Post) -> None:
        """Tell only the one who spoke."""
        for page in self.pages(post):
            await self._whisper(said, page)


def mark_of(key: str) -> int:
    """Give the number that a message is found by: 30 bits of its key's digest, never 0."""
    return int.from_bytes(sha256(key.encode()).digest()[:4]) >> 2 | 1


def _mark_in(message: discord.Message) -> int | None:
    return getattr(message.components[0], "id", None) if message.components else None


def _thread_name(post: Post) -> str:
    name = " ".join(post.summary.split()) or "The council"
    return name if len(name) <= THREAD_NAME else f"{name[: THREAD_NAME - 1]}…"
