"""The command `council discord`: set up the Discord application."""

import typer

from bot.cli.output import async_command
from bot.discord.config import read_credentials
from bot.settings import SettingsError, load_settings

discord_app = typer.Typer(help="Set up the Discord application.", no_args_is_help=True)


@discord_app.command()
@async_command
async def invite() -> None:
    """Print the links that invite the bot to a server and add it for oneself."""
    from bot.discord.app import CODE_GRANT_REQUIRED, DiscordError, fetch_identity
    from bot.discord.events import invite_url, user_install_url

    address = read_credentials(load_settings())
    if address is None:
        raise SettingsError(["DISCORD_TOKEN is missing: docs/discord.md says where it is found."])
    me = await fetch_identity(address)
    if me.needs_code_grant:
        raise DiscordError(CODE_GRANT_REQUIRED)
    typer.echo(invite_url(me.application))
    typer.echo(f"For yourself, to use anywhere: {user_install_url(me.application)}")
