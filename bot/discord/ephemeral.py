"""Ephemeral replies in Discord: defer an interaction and answer one user in private."""

from contextlib import suppress
from functools import partial
from itertools import count

import aiohttp
import discord
import structlog

from bot.chat import File, IncomingMessage, Post, send_first_possible
from bot.discord.components import MentionCommands, silent_edit, silent_message
from bot.discord.errors import call_with_retries, is_transient, translate_errors
from bot.discord.messages import REPLY_TIMEOUT_SECONDS, Call, Interaction
from council.errors import CouncilError

ResponseType = discord.InteractionResponseType
_ALREADY_ACKNOWLEDGED = 40060
_DEFERRED = {ResponseType.deferred_channel_message, ResponseType.deferred_message_update}


async def defer(interaction: Interaction, *, is_public: bool = False) -> None:
    """Acknowledge an interaction with a deferred response, which is ephemeral unless public."""
    ephemeral = not is_public
    await _acknowledge(partial(interaction.response.defer, ephemeral=ephemeral, thinking=True))


async def defer_page(interaction: Interaction) -> None:
    """Acknowledge a button press whose first reply replaces the button's message."""
    await _acknowledge(interaction.response.defer)


async def replace_message(interaction: Interaction, post: Post) -> None:
    """Acknowledge a button press by replacing the button's message with a post."""
    await _acknowledge(lambda: interaction.response.edit_message(**silent_edit(post)))


async def _acknowledge(call: Call) -> None:
    """Acknowledge an interaction; retry after a lost connection."""
    for is_last in (False, False, True):
        try:
            await call()
        except aiohttp.ClientError:
            if is_last:
                raise
        except discord.HTTPException as error:
            if error.code != _ALREADY_ACKNOWLEDGED:
                raise
            return
        else:
            return


class EphemeralReplies:
    """Ephemeral replies to one interaction."""

    def __init__(self, interaction: Interaction, mention_commands: MentionCommands = str) -> None:
        self._interaction = interaction
        self._mention_commands = mention_commands
        self._has_replied = False

    async def __call__(self, incoming: IncomingMessage, post: Post) -> None:
        """Reply to the user; after the interaction's 15 minutes, send a direct message."""
        # The first replaces "is thinking …" or the pressed page; sent twice, it appears once.
        is_edit = self.is_response_free
        self._has_replied = True
        try:
            await call_with_retries(
                lambda: self._reply(post, is_edit=is_edit), REPLY_TIMEOUT_SECONDS
            )
        except CouncilError as error:
            structlog.get_logger().warning("discord_whisper_lost", key=incoming.key, why=str(error))

    @property
    def is_response_free(self) -> bool:
        """Return whether the deferred response is still to be replaced by a message."""
        return not self._has_replied and self._interaction.response.type in _DEFERRED

    async def end(self) -> None:
        """Remove "is thinking …" if there was no reply."""
        await self.end_waiting()

    async def end_waiting(self) -> None:
        """Remove "is thinking …" if there was no reply; later ones are messages of their own."""
        is_thinking = self._interaction.response.type == ResponseType.deferred_channel_message
        if is_thinking and not self._has_replied:
            self._has_replied = True
            with suppress(CouncilError), translate_errors():
                await self._interaction.delete_original_response()

    async def _reply(self, post: Post, *, is_edit: bool) -> None:
        try:
            if is_edit:
                arguments = silent_edit(post, self._mention_commands)
                await self._interaction.edit_original_response(**arguments)
            else:
                arguments = silent_message(post, self._mention_commands)
                await self._interaction.followup.send(**arguments, ephemeral=True)
        except discord.HTTPException as error:
            if is_transient(error):
                raise
            # The interaction has expired, or its channel is closed.
            await self._interaction.user.send(**silent_message(post, self._mention_commands))


class MessageReplies:
    """Replies to a message; Discord has no ephemeral replies to messages, so everyone sees them."""

    def __init__(self, message: discord.Message, mention_commands: MentionCommands = str) -> None:
        self._message = message
        self._mention_commands = mention_commands
        self._nonces = count(message.id)

    async def __call__(self, incoming: IncomingMessage, post: Post) -> None:
        """Reply to the message, else post in its channel, else send a direct message."""
        message = self._message
        reply = partial(message.reply, mention_author=False)
        calls: tuple[Call, ...] = (reply, message.channel.send, message.author.send)
        if message.guild and any(isinstance(part, File) for part in post.parts):
            calls = (message.author.send,)  # a file is for this person alone
        sends = (partial(self._send, call, post, next(self._nonces)) for call in calls)
        try:
            await send_first_possible(sends, REPLY_TIMEOUT_SECONDS)
        except CouncilError as error:
            structlog.get_logger().warning("discord_whisper_lost", key=incoming.key, why=str(error))

    async def _send(self, call: Call, post: Post, nonce: int) -> None:
        with translate_errors():
            arguments = silent_message(post, self._mention_commands)
            await call(**arguments, nonce=nonce, silent=True)


async def discard_reply(incoming: IncomingMessage, post: Post) -> None:
    """Log a reply instead of sending it: after a restart, the interaction is gone."""
    summary = post.summary or incoming.key
    structlog.get_logger().info("discord_whisper_to_nobody", key=incoming.key, told=summary)
