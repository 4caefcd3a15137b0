"""The manifest for the settings at hand, and Slack's opinion of what we would post."""

from collections.abc import Callable

import typer

from bot.cli.outcome import say_json
from bot.settings import Settings, SettingsError, load_settings
from bot.slack.client import opened_client
from bot.slack.config import events_address, manifest, manifest_text
from bot.slack.validate import faults_of, samples

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
        say_json(manifest(address))
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
