"""Channels that people name: looked up, and whether bot and speaker may both use them."""

from dataclasses import replace

import discord

from bot.chat import Said, UnwelcomeError
from bot.discord.faults import told
from bot.discord.hearing import place_of
from council.places import Place

NO_CHANNEL = "There is no channel {name} in this server that you and I both see: pick one with #."
GONE = "The channel is not there any more, or I am not in its server."
_NEEDED = {"view_channel": "View Channel", "send_messages": "Send Messages"}

Text = discord.TextChannel | discord.VoiceChannel | discord.StageChannel


async def elsewhere(client: discord.Client, said: Said, name: str) -> Said:
    """Give what was said as if it were said in another channel of the server, named or by id."""
    guild = client.get_guild(int(said.place.workspace)) if said.place.workspace else None
    if guild is None:
        raise UnwelcomeError(f"Direct messages have no channels: leave #{name} out.")
    with told():
        member = await guild.fetch_member(int(said.asker.id))
    # Several channels may have one name.
    found = [
        channel
        for channel in guild.channels
        if isinstance(channel, Text)
        and name.casefold() in {str(channel.id), channel.name.casefold()}
        and channel.permissions_for(member).view_channel
    ]
    if not found:
        raise UnwelcomeError(NO_CHANNEL.format(name=name if name.isdecimal() else f"#{name}"))
    _check(found[0], guild)
    return replace(said, place=place_of(found[0], guild.id), is_shared=False, is_direct=False)


def check_postable(client: discord.Client, place: Place) -> None:
    """Raise UnwelcomeError for a channel that is gone, or in which the bot may not post."""
    if not place.workspace:
        return
    guild = client.get_guild(int(place.workspace))
    channel = guild.get_channel(int(place.within)) if guild else None
    if guild is None or channel is None:
        raise UnwelcomeError(GONE)
    _check(channel, guild)


def _check(channel: discord.abc.GuildChannel, guild: discord.Guild) -> None:
    granted = channel.permissions_for(guild.me)
    missing = [label for name, label in _NEEDED.items() if not getattr(granted, name)]
    if missing:
        raise UnwelcomeError(
            f"I cannot post in #{channel.name}: I need {' and '.join(missing)} there."
        )
