"""What the bot may do where it is asked, what it is invited with, and what to say of less."""

from typing import Any

import discord

from bot.chat import UnwelcomeError

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
    """Raise UnwelcomeError, which names what is missing, where no answer could be posted."""
    if interaction.guild_id is None:
        return
    in_thread = isinstance(interaction.channel, discord.Thread)
    needed = _NEEDED_IN_THREADS if in_thread else _NEEDED
    granted = interaction.app_permissions
    missing = [label for name, label in needed.items() if not getattr(granted, name)]
    if missing:
        raise UnwelcomeError(
            f"I cannot post here: I need {' and '.join(missing)}. Grant that to my role in this "
            "channel, then ask again."
        )
