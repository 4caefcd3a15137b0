"""The manifest for the settings at hand, and Slack's opinion of what we would post."""

from collections.abc import Callable
from typing import Annotated

import typer

from bot.cli.doctor import discord_address
from bot.cli.output import FAILED, run, say_json
from bot.discord.app import CODE_GRANT, DiscordError, identity
from bot.discord.events import invitation
from bot.settings import Settings, SettingsError, load_settings
from bot.slack.client import opened_client
from bot.slack.config import events_address, manifest_text
from bot.slack.config import manifest as _slack_app_manifest
from bot.slack.validate import faults_of, samples

slack_app = typer.Typer(help="Set up the Slack app.", no_args_is_help=True)
discord_app = typer.Typer(help="Set up the Discord application.", no_args_is_help=True)

# --- The manifest for the settings at hand, and Slack's opinion of what we would post.

NO_ADDRESS = (
    "With SLACK_SIGNING_SECRET alone Slack posts over HTTP: give the address it reaches the bot "
    "at, as in --url https://council.example.com, or set SLACK_APP_TOKEN for Socket Mode."
)
BAD_ADDRESS = "--url {url!r} is no address that Slack posts to: it begins with https:// and a host."
SOCKET_WINS = (
    "SLACK_APP_TOKEN is set, so `council serve` opens a socket: unset it, and Slack is heard at "
    "{address}."
)


async def print_manifest(url: str | None, *, as_json: bool) -> None:
    """Print the manifest as YAML or JSON; SettingsError where HTTP has no address."""
    settings = load_settings()
    address = _address(settings, url)
    if address and settings.slack_app_token:
        typer.echo(SOCKET_WINS.format(address=address), err=True)
    if as_json:
        say_json(_slack_app_manifest(address))
    else:
        typer.echo(manifest_text(address), nl=False)


def _address(settings: Settings, url: str | None) -> str | None:
    if url is None:
        if settings.slack_signing_secret and not settings.slack_app_token:
            raise SettingsError([NO_ADDRESS])
        return None
    address = events_address(url)
    if address is None:
        raise SettingsError([BAD_ADDRESS.format(url=url)])
    return address


async def validate_samples(tell: Callable[[str], None]) -> None:
    """Print what Slack says of every sample; `tell` hears of those it would refuse."""
    settings = load_settings()
    async with opened_client(settings.slack_api_url) as client:
        for sample in samples():
            faults = await faults_of(client, sample)
            typer.echo(f"{'FAIL' if faults else 'ok  '} {sample.name}")
            for fault in faults:
                typer.echo(f"     {fault}")
            if faults:
                tell(sample.name)


# --- `council slack`: setting the Slack app up.

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@slack_app.command()
def manifest(
    url: Annotated[
        str | None,
        typer.Option(help="Where Slack reaches the bot over HTTP: https://council.example.com"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the app's manifest: for Socket Mode, or with --url for HTTP."""
    run(print_manifest(url, as_json=as_json))


@slack_app.command()
def validate() -> None:
    """Have Slack check what messages and modals look like; needs no token, sends nobody's text."""
    refused: list[str] = []
    run(validate_samples(refused.append))
    if refused:
        raise typer.Exit(FAILED)


# --- The link that invites the bot of the token at hand.

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


# --- `council discord`: setting the Discord application up.


@discord_app.command()
def invite() -> None:
    """Print the link that invites the bot into a server, with the permissions it needs."""
    run(print_invitation())
