"""What the bot may do where it is asked, and what to say where that is not enough."""

from typing import Any

import discord

from bot.chat import UnwelcomeError

_NEEDED = {"view_channel": "View Channel", "send_messages": "Send Messages"}
_NEEDED_IN_THREADS = {
    "view_channel": "View Channel",
    "send_messages_in_threads": "Send Messages in Threads",
}


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
