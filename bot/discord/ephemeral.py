"""Ephemeral replies in Discord: defer an interaction and answer one user in private."""

from contextlib import suppress
from functools import partial
from itertools import count

import aiohttp
import discord
import structlog

from bot.chat import IncomingMessage, Post, send_first_possible
from bot.discord.components import silent_message
from bot.discord.errors import call_with_retries, is_transient, translate_errors
from bot.discord.messages import REPLY_TIMEOUT_SECONDS, Call, Interaction
from council.errors import CouncilError

_ALREADY_ACKNOWLEDGED = 40060


async def defer(interaction: Interaction) -> None:
    """Acknowledge an interaction with a deferred ephemeral response."""
    await _acknowledge(partial(interaction.response.defer, ephemeral=True, thinking=True))


async def replace_message(interaction: Interaction, post: Post) -> None:
    """Acknowledge a button press by replacing the button's message with a post."""
    await _acknowledge(lambda: interaction.response.edit_message(**silent_message(post)))


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

    def __init__(self, interaction: Interaction) -> None:
        self._interaction = interaction
        self._has_replied = False

    async def __call__(self, incoming: IncomingMessage, post: Post) -> None:
        """Reply to the user; after the interaction's 15 minutes, send a direct message."""
        send: Call = partial(self._interaction.followup.send, ephemeral=True)
        if self._is_deferred and not self._has_replied:
            # Replaces "is thinking …"; sent twice, the reply appears once.
            send = self._interaction.edit_original_response
        self._has_replied = True
        try:
            await call_with_retries(lambda: self._reply(post, send), REPLY_TIMEOUT_SECONDS)
        except CouncilError as error:
            structlog.get_logger().warning("discord_whisper_lost", key=incoming.key, why=str(error))

    async def end(self) -> None:
        """Remove "is thinking …" if there was no reply."""
        if self._is_deferred and not self._has_replied:
            with suppress(CouncilError), translate_errors():
                await self._interaction.delete_original_response()

    @property
    def _is_deferred(self) -> bool:
        deferred = discord.InteractionResponseType.deferred_channel_message
        return self._interaction.response.type == deferred

    async def _reply(self, post: Post, send: Call) -> None:
        try:
            await send(**silent_message(post))
        except discord.HTTPException as error:
            if is_transient(error):
                raise
            # The interaction has expired, or its channel is closed.
            await self._interaction.user.send(**silent_message(post))


class MessageReplies:
    """Replies to a message; Discord has no ephemeral replies to messages, so everyone sees them."""

    def __init__(self, message: discord.Message) -> None:
        self._message = message
        self._nonces = count(message.id)

    async def __call__(self, incoming: IncomingMessage, post: Post) -> None:
        """Reply to the message, else post in its channel, else send a direct message."""
        message = self._message
        reply = partial(message.reply, mention_author=False)
        calls = (reply, message.channel.send, message.author.send)
        sends = (partial(self._send, call, post, next(self._nonces)) for call in calls)
        try:
            await send_first_possible(sends, REPLY_TIMEOUT_SECONDS)
        except CouncilError as error:
            structlog.get_logger().warning("discord_whisper_lost", key=incoming.key, why=str(error))

    async def _send(self, call: Call, post: Post, nonce: int) -> None:
        with translate_errors():
            await call(**silent_message(post), nonce=nonce, silent=True)


async def discard_reply(incoming: IncomingMessage, post: Post) -> None:
    """Log a reply instead of sending it: after a restart, the interaction is gone."""
    summary = post.summary or incoming.key
    structlog.get_logger().info("discord_whisper_to_nobody", key=incoming.key, told=summary)
