"""Parser of Discord's events: incoming messages, attachments, channels and permissions."""

from typing import Any

import discord

from bot.chat import (
    Asker,
    Attachment,
    IncomingMessage,
    PostingForbiddenError,
    event_key,
)
from bot.discord.errors import translate_errors
from bot.discord.shards import CHAT
from council.places import Place

# docs/discord.md says what each permission is for.
BOT_PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    attach_files=True,
    read_message_history=True,
)
SCOPES = ("bot", "applications.commands")
_NEEDED_IN_CHANNEL = {"view_channel": "View Channel", "send_messages": "Send Messages"}
_NEEDED_IN_THREAD = {
    "view_channel": "View Channel",
    "send_messages_in_threads": "Send Messages in Threads",
}

GuildTextChannel = discord.TextChannel | discord.VoiceChannel | discord.StageChannel


def parse_interaction(interaction: discord.Interaction) -> IncomingMessage:
    """Return an interaction as an incoming message without text, under a key from its id."""
    held, guild_id = interaction.permissions, interaction.guild_id
    return _parse(interaction.id, interaction.user, held, interaction.channel, guild_id)


def parse_message(message: discord.Message) -> IncomingMessage:
    """Return a message as an incoming one; its key is the same however often it is delivered."""
    guild_id = message.guild.id if message.guild else None
    held = getattr(message.author, "guild_permissions", discord.Permissions.none())
    return _parse(message.id, message.author, held, message.channel, guild_id)


def _parse(
    id_: int,
    user: discord.User | discord.Member,
    held: discord.Permissions,
    channel: object,
    guild_id: int | None,
) -> IncomingMessage:
    roles = tuple(str(role.id) for role in getattr(user, "roles", ()))
    is_admin = guild_id is not None and (held.manage_guild or held.administrator)
    asker = Asker(
        str(user.id),
        user.display_name,
        aliases=aliases_of(user),
        roles=roles,
        is_admin=is_admin,
        manages_channel=guild_id is not None and held.manage_channels,
    )
    key, is_direct = event_key(CHAT, str(id_)), guild_id is None
    return IncomingMessage("", asker, place_of(channel, guild_id), key, is_direct=is_direct)


def aliases_of(user: discord.User | discord.Member) -> tuple[str, ...]:
    """Return the names of a user besides the one that Discord shows."""
    names = (user.name, user.global_name, getattr(user, "nick", None))
    return tuple(name for name in names if name and name != user.display_name)


def place_of(channel: object, guild_id: int | None) -> Place:
    """Return a channel or thread; private unless everybody in the server is known to see it."""
    id_ = str(getattr(channel, "id", ""))
    if guild_id is None:
        return Place(CHAT, "", id_, private=True)
    if isinstance(channel, discord.Thread):
        parent = str(channel.parent_id)
        if channel.is_private():
            return Place(CHAT, str(guild_id), f"{parent}:{id_}", id_, private=True)
        return Place(CHAT, str(guild_id), parent, id_, private=not _is_public(channel.parent))
    return Place(CHAT, str(guild_id), id_, private=not _is_public(channel))


def _is_public(channel: object) -> bool:
    if not isinstance(channel, discord.abc.GuildChannel):
        return False
    everyone = channel.guild.get_role(channel.guild.id)  # unknown where the bot is no member
    return everyone is not None and channel.permissions_for(everyone).view_channel


def parse_attachment(attachment: discord.Attachment) -> Attachment:
    """Return a file as an attachment, which is downloaded only when read."""

    async def read() -> bytes:
        with translate_errors():
            return await attachment.read()

    return Attachment(attachment.filename, attachment.size, read)


def invite_url(application: int) -> str:
    """Return the URL that invites the bot with the permissions it uses and no others."""
    return discord.utils.oauth_url(application, permissions=BOT_PERMISSIONS, scopes=SCOPES)


def user_install_url(application: int) -> str:
    """Return the URL with which people add the bot for themselves, to use it anywhere."""
    url = discord.utils.oauth_url(application, scopes=("applications.commands",))
    return f"{url}&integration_type=1"


def is_outside(interaction: discord.Interaction[Any]) -> bool:
    """Return whether an interaction comes from a place that the bot is not in."""
    if interaction.guild_id is None:
        return bool(interaction.context.private_channel)
    # A server may have authorised the commands without the bot.
    is_in_guild = interaction.client.get_guild(interaction.guild_id) is not None
    return not (is_in_guild and interaction.is_guild_integration())


async def direct_place(user: discord.User | discord.Member) -> Place:
    """Return the place of somebody's direct messages."""
    with translate_errors():
        channel = await user.create_dm()
    return Place(CHAT, "", str(channel.id), private=True)


def check_can_post(interaction: discord.Interaction[Any]) -> None:
    """Raise PostingForbiddenError, naming the missing permissions, if no answer can be posted."""
    if interaction.guild_id is None or is_outside(interaction):
        return
    in_thread = isinstance(interaction.channel, discord.Thread)
    needed = _NEEDED_IN_THREAD if in_thread else _NEEDED_IN_CHANNEL
    if missing := _missing(interaction.app_permissions, needed):
        raise PostingForbiddenError(
            f"I can't post here: I need {missing}. Grant that to my role in this channel, then "
            "ask again."
        )


def check_can_post_in(channel: GuildTextChannel, guild: discord.Guild) -> None:
    """Raise PostingForbiddenError, naming the missing permissions, if the bot cannot post there."""
    if missing := _missing(channel.permissions_for(guild.me), _NEEDED_IN_CHANNEL):
        raise PostingForbiddenError(f"I can't post in #{channel.name}: I need {missing} there.")


def _missing(granted: discord.Permissions, needed: dict[str, str]) -> str:
    return " and ".join(label for name, label in needed.items() if not getattr(granted, name))
