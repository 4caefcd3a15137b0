"""Telling only the one who spoke: in answer to an interaction, or by a message to them alone."""

from contextlib import suppress
from typing import Any

import discord
import structlog

from bot.chat import Post, Said
from bot.discord.dress import dressed
from bot.discord.faults import is_expired, told
from bot.discord.views import view_of
from council.errors import CouncilError

Interaction = discord.Interaction[Any]
_THINKING = {discord.InteractionResponseType.deferred_channel_message}
_NOBODY = discord.AllowedMentions.none()


class Whispers:
    """Answers one interaction, which has been deferred, in private."""

    def __init__(self, interaction: Interaction) -> None:
        self._interaction = interaction
        self._has_spoken = False

    async def __call__(self, said: Said, post: Post) -> None:
        """Tell the one who spoke; an interaction lasts 15 minutes, then it is a direct message."""
        self._has_spoken = True
        try:
            with told():
                await self._answered(post)
        except CouncilError as error:
            structlog.get_logger().warning("discord_whisper_lost", key=said.key, why=str(error))

    async def end(self) -> None:
        """Take away "is thinking …" where there is nothing to say."""
        if not self._has_spoken and self._interaction.response.type in _THINKING:
            with suppress(discord.HTTPException):
                await self._interaction.delete_original_response()

    async def _answered(self, post: Post) -> None:
        view = view_of(dressed(post))
        try:
            await self._interaction.followup.send(
                view=view, ephemeral=True, allowed_mentions=_NOBODY
            )
        except discord.HTTPException as error:
            if not is_expired(error):
                raise
            await self._interaction.user.send(view=view_of(dressed(post)), allowed_mentions=_NOBODY)


class Replies:
    """Answers a message where it was written: nothing there can be shown to one person alone."""

    def __init__(self, message: discord.Message) -> None:
        self._message = message

    async def __call__(self, said: Said, post: Post) -> None:
        """Tell the one who spoke."""
        try:
            with told():
                await self._message.reply(
                    view=view_of(dressed(post)),
                    allowed_mentions=_NOBODY,
                    silent=True,
                    mention_author=False,
                )
        except CouncilError as error:
            structlog.get_logger().warning("discord_whisper_lost", key=said.key, why=str(error))


async def nobody(said: Said, post: Post) -> None:
    """Tell nobody: after a restart there is no way back to the one who spoke."""
    summary = post.summary or said.key
    structlog.get_logger().info("discord_whisper_to_nobody", key=said.key, told=summary)
