"""From Discord's events to what was said: by whom, where, and under which key."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import discord

from bot.chat import Asker, Attachment, IncomingMessage, PostingForbiddenError, key_of
from bot.chat.incoming import MOST_CHARACTERS
from bot.discord.errors import told
from council.errors import QuestionError
from council.places import Place

# --- From Discord's events to what was said: by whom, where, and under which key.

CHAT = "discord"


def said_by(interaction: discord.Interaction, text: str = "") -> IncomingMessage:
    """Give what an interaction says, under its own key."""
    place = place_of(interaction.channel, interaction.guild_id)
    return IncomingMessage(
        text,
        asker_of(interaction.user),
        place,
        key_of(CHAT, str(interaction.id)),
        is_direct=interaction.guild_id is None,
    )


def said_in(message: discord.Message, text: str) -> IncomingMessage:
    """Give what a message says; a message is one event, however often it is delivered."""
    guild = message.guild.id if message.guild else None
    return IncomingMessage(
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


# --- Files that come with what is said: the text of one, or files to be read later.

MOST_BYTES = 4 * MOST_CHARACTERS  # a character takes four bytes at most


async def text_of(attachment: discord.Attachment) -> str:
    """Give a file's text; raise QuestionError for one that is too long, or no text."""
    if attachment.size > MOST_BYTES:
        raise QuestionError(
            f"{attachment.filename} has {attachment.size:,} bytes, and with the question at most "
            f"{MOST_CHARACTERS:,} characters can be asked: attach a part of it."
        )
    with told():
        content = await attachment.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise QuestionError(
            f"{attachment.filename} is no text file: attach plain text, Markdown, CSV or code."
        ) from None


def attached(attachments: Iterable[discord.Attachment]) -> tuple[Attachment, ...]:
    """Give files that can be read."""
    return tuple(_attached(attachment) for attachment in attachments)


def _attached(attachment: discord.Attachment) -> Attachment:
    async def read() -> bytes:
        with told():
            return await attachment.read()

    return Attachment(attachment.filename, attachment.size, read)


# --- What the bot may do where it is asked, what it is invited with, and what to say of less.

# All that is used; docs/discord.md says what for.
WANTED = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    attach_files=True,
    read_message_history=True,
)
SCOPES = ("bot", "applications.commands")
_NEEDED = {"view_channel": "View Channel", "send_messages": "Send Messages"}
_NEEDED_IN_THREADS = {
    "view_channel": "View Channel",
    "send_messages_in_threads": "Send Messages in Threads",
}


def invitation(application: int) -> str:
    """Give the link that asks for these permissions and no others."""
    return discord.utils.oauth_url(application, permissions=WANTED, scopes=SCOPES)


def check_welcome(interaction: discord.Interaction[Any]) -> None:
    """Raise PostingForbiddenError, which names what is missing, where no answer could be posted."""
    if interaction.guild_id is None:
        return
    in_thread = isinstance(interaction.channel, discord.Thread)
    needed = _NEEDED_IN_THREADS if in_thread else _NEEDED
    granted = interaction.app_permissions
    missing = [label for name, label in needed.items() if not getattr(granted, name)]
    if missing:
        raise PostingForbiddenError(
            f"I cannot post here: I need {' and '.join(missing)}. Grant that to my role in this "
            "channel, then ask again."
        )


# --- Channels that people name: looked up, and whether bot and speaker may both use them.

NO_CHANNEL = "There is no channel {name} in this server that you and I both see: pick one with #."
GONE = "I am not in the server any more that this would be posted in."
_NEEDED_IN_CHANNEL = {"view_channel": "View Channel", "send_messages": "Send Messages"}

Text = discord.TextChannel | discord.VoiceChannel | discord.StageChannel


async def elsewhere(client: discord.Client, said: IncomingMessage, name: str) -> IncomingMessage:
    """Give what was said as if it were said in another channel of the server, named or by id."""
    guild = client.get_guild(int(said.place.workspace)) if said.place.workspace else None
    if guild is None:
        raise PostingForbiddenError(f"Direct messages have no channels: leave #{name} out.")
    with told():
        member = await guild.fetch_member(int(said.asker.id))
        there = await guild.fetch_channels()
    # Several channels may have one name.
    for channel in there:
        is_meant = name.casefold() in {str(channel.id), channel.name.casefold()}
        if is_meant and isinstance(channel, Text) and _sees(member, channel):
            _check(channel, guild)
            return replace(said, place=place_of(channel, guild.id), is_direct=False)
    raise PostingForbiddenError(NO_CHANNEL.format(name=name if name.isdecimal() else f"#{name}"))


async def check_postable(client: discord.Client, place: Place) -> None:
    """Raise PostingForbiddenError for a channel that is gone, or in which the bot may not post."""
    if not place.workspace:
        return
    guild = client.get_guild(int(place.workspace))
    if guild is None:
        raise PostingForbiddenError(GONE)
    with told():
        channel = await guild.fetch_channel(int(place.within))
    if isinstance(channel, Text):
        _check(channel, guild)


def _sees(member: discord.Member, channel: Text) -> bool:
    return channel.permissions_for(member).view_channel


def _check(channel: Text, guild: discord.Guild) -> None:
    granted = channel.permissions_for(guild.me)
    missing = [label for name, label in _NEEDED_IN_CHANNEL.items() if not getattr(granted, name)]
    if missing:
        raise PostingForbiddenError(
            f"I cannot post in #{channel.name}: I need {' and '.join(missing)} there."
        )
