"""The command `council discord`: set up the Discord application."""

import typer

from bot.cli.output import async_command
from bot.discord.config import read_credentials
from bot.settings import SettingsError, load_settings

discord_app = typer.Typer(help="Set up the Discord application.", no_args_is_help=True)

WHERE_IT_IS = (
    "At https://discord.com/developers/applications choose your application, Bot, Reset Token, and "
    "copy the new one into .env."
)


@discord_app.command()
@async_command
async def invite() -> None:
    """Print the links that add the bot to a server or to oneself."""
    from bot.discord.events import invite_url, user_install_url

    credentials = read_credentials(load_settings())
    if credentials is None:
        raise SettingsError([f"DISCORD_TOKEN is missing. {WHERE_IT_IS}"])
    application = credentials.application
    if application is None:
        raise SettingsError([f"DISCORD_TOKEN is not the token of a bot. {WHERE_IT_IS}"])
    typer.echo(invite_url(application))
    typer.echo(f"For yourself, to use anywhere: {user_install_url(application)}")
