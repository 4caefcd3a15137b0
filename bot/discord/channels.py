"""Channels that people name: looked up, and whether bot and speaker may both use them."""

from dataclasses import replace

import discord

from bot.chat import Said, UnwelcomeError
from bot.discord.faults import told
from bot.discord.hearing import place_of
from council.places import Place

NO_CHANNEL = "There is no channel {name} in this server that you and I both see: pick one with #."
GONE = "I am not in the server any more that this would be posted in."
_NEEDED = {"view_channel": "View Channel", "send_messages": "Send Messages"}

Text = discord.TextChannel | discord.VoiceChannel | discord.StageChannel


async def elsewhere(client: discord.Client, said: Said, name: str) -> Said:
    """Give what was said as if it were said in another channel of the server, named or by id."""
    guild = client.get_guild(int(said.place.workspace)) if said.place.workspace else None
    if guild is None:
        raise UnwelcomeError(f"Direct messages have no channels: leave #{name} out.")
    with told():
        member = await guild.fetch_member(int(said.asker.id))
        there = await guild.fetch_channels()
    # Several channels may have one name.
    for channel in there:
        is_meant = name.casefold() in {str(channel.id), channel.name.casefold()}
        if is_meant and isinstance(channel, Text) and _sees(member, channel):
            _check(channel, guild)
            return replace(said, place=place_of(channel, guild.id), is_direct=False)
    raise UnwelcomeError(NO_CHANNEL.format(name=name if name.isdecimal() else f"#{name}"))


async def check_postable(client: discord.Client, place: Place) -> None:
    """Raise UnwelcomeError for a channel that is gone, or in which the bot may not post."""
    if not place.workspace:
        return
    guild = client.get_guild(int(place.workspace))
    if guild is None:
        raise UnwelcomeError(GONE)
    with told():
        channel = await guild.fetch_channel(int(place.within))
    if isinstance(channel, Text):
        _check(channel, guild)


def _sees(member: discord.Member, channel: Text) -> bool:
    return channel.permissions_for(member).view_channel


def _check(channel: Text, guild: discord.Guild) -> None:
    granted = channel.permissions_for(guild.me)
    missing = [label for name, label in _NEEDED.items() if not getattr(granted, name)]
    if missing:
        raise UnwelcomeError(
            f"I cannot post in #{channel.name}: I need {' and '.join(missing)} there."
        )
