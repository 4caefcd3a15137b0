"""Telling only the one who spoke: in answer to an interaction, or by a message to them alone."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any

import aiohttp
import discord
import structlog
from discord import ui

from bot.chat import Post, Said, insisted_on_one
from bot.discord.dress import dressed
from bot.discord.faults import insisted, is_passing, told
from bot.discord.views import view_of
from council.errors import CouncilError

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


class Whispers:
    """Answers one interaction, which has been deferred, in private."""

    def __init__(self, interaction: Interaction) -> None:
        self._interaction = interaction
        self._has_spoken = False

    async def __call__(self, said: Said, post: Post) -> None:
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


class Replies:
    """Answers a message where it was written: nothing there can be shown to one person alone."""

    def __init__(self, message: discord.Message) -> None:
        self._message = message
        self._nonces = count(message.id)

    async def __call__(self, said: Said, post: Post) -> None:
        """Tell the one who spoke: under what they said, else beside it, else to them alone."""
        message = self._message
        reply = partial(message.reply, mention_author=False)
        ways = (reply, message.channel.send, message.author.send)
        sends = (partial(self._sent, way, post, next(self._nonces)) for way in ways)
        try:
            await insisted_on_one(sends, PATIENCE_SECONDS)
        except CouncilError as error:
            structlog.get_logger().warning("discord_whisper_lost", key=said.key, why=str(error))

    async def _sent(self, way: Way, post: Post, nonce: int) -> None:
        view = view_of(dressed(post))
        with told():
            await way(view=view, nonce=nonce, allowed_mentions=_NOBODY, silent=True)


async def nobody(said: Said, post: Post) -> None:
    """Tell nobody: after a restart there is no way back to the one who spoke."""
    summary = post.summary or said.key
    structlog.get_logger().info("discord_whisper_to_nobody", key=said.key, told=summary)
