"""The link that invites the bot of the token at hand."""

import typer

from bot.cli.discord_address import discord_address
from bot.discord.app import CODE_GRANT, DiscordError, identity
from bot.discord.events import invitation
from bot.settings import SettingsError, load_settings

NO_TOKEN = "DISCORD_TOKEN is missing: docs/discord.md says where it is found."  # noqa: S105


async def print_invitation() -> None:
    """Print the link; SettingsError without a token, DiscordError where nobody could use it."""
    address = discord_address(load_settings())
    if address is None:
        raise SettingsError([NO_TOKEN])
    me = await identity(address)
    if me.needs_code_grant:
        raise DiscordError(CODE_GRANT)
    typer.echo(invitation(me.application))
