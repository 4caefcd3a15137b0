"""The commands `council slack` and `council discord`: set up the chat apps."""

from typing import Annotated

import typer

from bot.cli.output import Json, async_command, print_json
from bot.cli.tokens import discord_address
from bot.settings import Settings, SettingsError, load_settings
from bot.slack import config as slack_config

slack_app = typer.Typer(help="Set up the Slack app.", no_args_is_help=True)
discord_app = typer.Typer(help="Set up the Discord application.", no_args_is_help=True)

NO_ADDRESS = (
    "With SLACK_SIGNING_SECRET alone, Slack sends everything over HTTP. Give the bot's public "
    "address, as in --url https://council.example.com, or set SLACK_APP_TOKEN for Socket Mode."
)
NO_REDIRECT = (
    "People return to the bot after they install it in Slack. Give its public address, as in "
    "--url https://council.example.com"
)


@slack_app.command()
@async_command
async def manifest(
    url: Annotated[
        str | None,
        typer.Option(help="The public address for HTTP: https://council.example.com"),
    ] = None,
    distributed: Annotated[
        bool, typer.Option("--distributed", help="Let many workspaces install it; needs --url.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the app manifest: for Socket Mode, or with --url for HTTP."""
    if distributed and url is None:
        raise SettingsError([NO_REDIRECT])
    address = _events_address(load_settings(), url)
    if as_json:
        print_json(slack_config.load_manifest(address, distributed=distributed))
    else:
        typer.echo(slack_config.render_manifest(address, distributed=distributed), nl=False)


@discord_app.command()
@async_command
async def invite() -> None:
    """Print the links that invite the bot to a server and add it for oneself."""
    from bot.discord.app import CODE_GRANT_REQUIRED, DiscordError, fetch_identity
    from bot.discord.events import invite_url, user_install_url

    address = discord_address(load_settings())
    if address is None:
        raise SettingsError(["DISCORD_TOKEN is missing: docs/discord.md says where it is found."])
    me = await fetch_identity(address)
    if me.needs_code_grant:
        raise DiscordError(CODE_GRANT_REQUIRED)
    typer.echo(invite_url(me.application))
    typer.echo(f"For yourself, to use anywhere: {user_install_url(me.application)}")


def _events_address(settings: Settings, url: str | None) -> str | None:
    if url is None:
        if settings.slack_signing_secret and not settings.slack_app_token:
            raise SettingsError([NO_ADDRESS])
        return None
    address = slack_config.events_address(url)
    if address is None:
        why = "is not a public address. It must begin with https:// and a host name."
        raise SettingsError([f"--url {url!r} {why}"])
    return address
