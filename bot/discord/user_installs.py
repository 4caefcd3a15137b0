"""Places that the bot is not in: people who installed it for themselves use it there.

Every message goes through the interaction: its response, which becomes the answer, and at most five
more, for 15 minutes. What comes later goes to the person's direct messages. A round of such a place
belongs to that person, as if it were asked in direct messages.
"""

from dataclasses import replace
from typing import Any

import discord

from bot.chat import (
    DeliveryUnknownError,
    IncomingMessage,
    Note,
    Part,
    Post,
    SentMessage,
)
from bot.discord.components import (
    MentionCommands,
    allowed_mentions,
    build_files,
    build_view,
    render_components,
    silent_edit,
)
from bot.discord.ephemeral import EphemeralReplies
from bot.discord.errors import translate_errors
from bot.discord.events import direct_place
from bot.discord.messages import DIRECT_PREFIX, ClientState, DiscordChat
from bot.discord.shards import CHAT
from council.errors import CouncilError
from council.places import Place

NO_THREAD_HERE = (
    "I am not in this channel, so there is no thread. `/council show last` opens the round again."
)

Interaction = discord.Interaction[Any]


async def as_direct(interaction: Interaction, incoming: IncomingMessage) -> IncomingMessage:
    """Return a message from such a place as if its author had sent it in direct messages.

    Nobody else reads what is asked there, and who administers that server administers nothing here.
    Raise CouncilError if Discord opens no direct messages.
    """
    if interaction.is_user_integration():
        place = await direct_place(interaction.user)
    else:  # somebody else pressed a button
        place = Place(CHAT, "", f"{DIRECT_PREFIX}{incoming.asker.id}", private=True)
    asker = replace(incoming.asker, roles=(), is_admin=False)
    return replace(incoming, asker=asker, place=place, is_direct=True)


class OutsideReplies(EphemeralReplies):
    """Private replies to an interaction from such a place.

    The message after "is thinking …" is as public as that, so replies to a public question wait for
    the question's own message.
    """

    def __init__(
        self,
        interaction: Interaction,
        mention_commands: MentionCommands,
        incoming: IncomingMessage,
        *,
        is_public: bool,
    ) -> None:
        super().__init__(interaction, mention_commands)
        self._incoming = incoming
        self._waiting: list[Post] = []
        self.mention_commands = mention_commands
        self.is_public = is_public

    async def __call__(self, incoming: IncomingMessage, post: Post) -> None:
        """Reply to the user, or let the reply wait."""
        if self.is_public and self.is_response_free:
            self._waiting.append(post)
        else:
            await super().__call__(incoming, post)

    async def send_waiting(self, *more: Part) -> None:
        """Send what waited as one message with more parts: the response is taken, or deleted."""
        self._has_replied = True
        parts = [part for post in self._waiting for part in post.parts]
        summary = self._waiting[-1].summary if self._waiting else ""
        self._waiting.clear()
        if parts or more:
            await self(self._incoming, Post((*parts, *more), summary))

    async def end_waiting(self) -> None:
        """Do nothing: the question's own message takes the place of "is thinking …"."""

    async def end(self) -> None:
        """Remove "is thinking …" if nothing was posted, and send what waited."""
        await super().end_waiting()
        await self.send_waiting()


class OutsideChat(DiscordChat):
    """Chat adapter for a place that the bot is not in; only this process can post there."""

    is_bound = True
    replies_privately = False  # Discord limits how often we may reply there

    def __init__(
        self,
        client: discord.Client,
        state: ClientState,
        interaction: Interaction,
        replies: OutsideReplies,
    ) -> None:
        files = interaction.app_permissions.attach_files
        mention = replies.mention_commands
        super().__init__(client, state, replies, accepts_files=files, mention_commands=mention)
        self._interaction = interaction
        self._replies = replies
        self._has_posted = False

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Post through the interaction while Discord accepts that, then in direct messages."""
        if not self._interaction.is_expired():
            try:
                with translate_errors():
                    message = await self._respond(post)
            except DeliveryUnknownError:
                raise
            except CouncilError:  # expired, or five follow-ups
                return await super().send(place, post, key)
            for old in [m for m, one in self._interactions.items() if one.is_expired()]:
                del self._interactions[old]
            self._interactions[message] = self._interaction
            if not self._has_posted:
                self._has_posted = True
                await self._replies.send_waiting(Note(NO_THREAD_HERE))
            return SentMessage(place, message)
        return await super().send(place, post, key)

    async def _respond(self, post: Post) -> str:
        if self._replies.is_response_free:
            arguments = silent_edit(post, self._mention_commands)
            response = await self._interaction.edit_original_response(**arguments)
            return str(response.id)
        message = render_components(post, self._mention_commands)
        sent = await self._interaction.followup.send(
            view=build_view(message),
            files=build_files(message),
            allowed_mentions=allowed_mentions(message),
            silent=not message.mentioned,
            ephemeral=not self._replies.is_public,
            wait=True,
        )
        return str(sent.id)
