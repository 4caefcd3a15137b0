"""The client: events in, commands registered when they have changed."""

import json
from hashlib import sha256
from typing import Any

import discord
import structlog
from discord import app_commands

from bot.commands.context import Desk
from bot.commands.dispatch import COMMANDS
from bot.coordination.tasks import Doing
from bot.discord.ears import Ears
from bot.discord.modals import fields_of
from bot.discord.presses import Button
from bot.discord.remembering import Remembering
from bot.discord.servers import Servers
from bot.discord.shard import Shard
from bot.discord.tree import plant

# Messages are heard for replies in a thread and direct messages; none of these is privileged.
INTENTS = discord.Intents(guilds=True, guild_messages=True, dm_messages=True)

READY_SECONDS = 0.5  # without a further guild, until all are taken to be there


class Client(discord.Client):
    """One bot in the guilds of one shard; what is `kept` tells which commands are registered."""

    def __init__(
        self,
        desk: Desk,
        doing: Doing,
        servers: Servers,
        kept: Remembering,
        shard: Shard | None = None,
    ) -> None:
        super().__init__(
            shard_id=shard.number if shard else None,
            shard_count=shard.of if shard else None,
            intents=INTENTS,
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            chunk_guilds_at_startup=False,
            guild_ready_timeout=READY_SECONDS,
            member_cache_flags=discord.MemberCacheFlags.none(),
        )
        self.ears = Ears(desk, self, doing)
        self._servers = servers
        self._kept = kept
        self.tree = app_commands.CommandTree(self)
        plant(self.tree, COMMANDS.commands, self.ears.deeds)

    async def setup_hook(self) -> None:
        """Have buttons heard, and commands registered if they have changed."""
        self.add_dynamic_items(Button)
        application, digest = str(self.application_id), self._digest()
        if await self._kept.commands(application) != digest:
            await self.tree.sync()
            await self._kept.register(application, digest)

    def dispatch(self, event: str, /, *of: Any, **named: Any) -> None:  # noqa: ANN401
        """Hear an event; after its end the library still tells some, and has no loop for them."""
        if not self.is_closed():
            super().dispatch(event, *of, **named)

    def _digest(self) -> str:
        """Tell these commands, of this bot, from any other."""
        commands = [command.to_dict(self.tree) for command in self.tree.get_commands()]
        told = json.dumps([self.application_id, commands], sort_keys=True, default=str)
        return sha256(told.encode()).hexdigest()

    async def on_ready(self) -> None:
        """Hear in which guilds it is: now, and whenever Discord says so anew."""
        await self._servers.seen(self)

    async def on_guild_join(self, _: discord.Guild) -> None:
        """Hear that it was invited."""
        await self._servers.seen(self)

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """Hear that it was removed, or the guild deleted; an outage is another event."""
        await self._servers.removed(self, guild)

    async def pressed(self, interaction: discord.Interaction[Any], action: str, value: str) -> None:
        """Hear a button."""
        await self.ears.pressed(interaction, action, value)

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """Hear a modal: the library itself forgets those of before a restart."""
        data: Any = interaction.data or {}
        custom_id = str(data.get("custom_id", ""))
        if interaction.type is discord.InteractionType.modal_submit:
            await self.ears.submitted(interaction, custom_id, fields_of(data["components"]))

    async def on_message(self, message: discord.Message) -> None:
        """Hear a message."""
        await self.ears.message(message)

    async def on_error(self, event: str, /, *_: object, **__: object) -> None:
        """Note what nobody foresaw; whoever waits is told by the command's own handler."""
        structlog.get_logger().exception("discord_event_failed", event=event)
