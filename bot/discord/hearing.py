"""From Discord's events to what was said: by whom, where, and under which key."""

import discord

from bot.chat import Asker, Said, key_of
from council.places import Place

CHAT = "discord"


def said_by(interaction: discord.Interaction, text: str = "") -> Said:
    """Give what an interaction says, under its own key."""
    place = place_of(interaction.channel, interaction.guild_id)
    return Said(
        text,
        asker_of(interaction.user),
        place,
        key_of(CHAT, str(interaction.id)),
        is_direct=interaction.guild_id is None,
    )


def said_in(message: discord.Message, text: str) -> Said:
    """Give what a message says; a message is one event, however often it is delivered."""
    guild = message.guild.id if message.guild else None
    return Said(
        text,
        asker_of(message.author),
        place_of(message.channel, guild),
        key_of(CHAT, str(message.id)),
        is_direct=guild is None,
    )


def asker_of(user: discord.User | discord.Member) -> Asker:
    """Give who speaks, with the roles they have here."""
    roles = tuple(str(role.id) for role in getattr(user, "roles", ()))
    return Asker(str(user.id), user.display_name, roles=roles)


def place_of(channel: object, guild_id: int | None) -> Place:
    """Give where something is said: a channel, or a thread of it.

    What not everybody in the guild can see is private; so is what Discord told too little of.
    """
    id_ = str(getattr(channel, "id", ""))
    if guild_id is None:
        return Place(CHAT, "", id_, private=True)
    if isinstance(channel, discord.Thread):
        parent = str(channel.parent_id)
        if channel.is_private():
            return Place(CHAT, str(guild_id), f"{parent}:{id_}", id_, private=True)
        return Place(CHAT, str(guild_id), parent, id_, private=not _is_open(channel.parent))
    return Place(CHAT, str(guild_id), id_, private=not _is_open(channel))


def _is_open(channel: object) -> bool:
    """Say whether everybody in the guild can see a channel."""
    if not isinstance(channel, discord.abc.GuildChannel):
        return False
    return channel.permissions_for(channel.guild.default_role).view_channel
