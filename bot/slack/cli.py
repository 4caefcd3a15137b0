"""The command `council slack`: set up the Slack app."""

from typing import Annotated

import typer

from bot.cli.output import Json, async_command, print_json
from bot.settings import Settings, SettingsError, load_settings
from bot.slack.config import events_address, load_manifest, new_app_url, render_manifest

slack_app = typer.Typer(help="Set up the Slack app.", no_args_is_help=True)

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
    """Print the app manifest and a link that creates the app.

    With --url, the app uses HTTP.
    """
    if distributed and url is None:
        raise SettingsError([NO_REDIRECT])
    address = _events_address(load_settings(), url)
    document = load_manifest(address, distributed=distributed)
    if as_json:
        print_json(document)
        return
    typer.echo(render_manifest(address, distributed=distributed), nl=False)
    typer.echo(f"# To create the app with this manifest, open:\n# {new_app_url(document)}")


def _events_address(settings: Settings, url: str | None) -> str | None:
    if url is None:
        if settings.value("SLACK_SIGNING_SECRET") and not settings.value("SLACK_APP_TOKEN"):
            raise SettingsError([NO_ADDRESS])
        return None
    address = events_address(url)
    if address is None:
        why = "is not a public address. It must begin with https:// and a host name."
        raise SettingsError([f"--url {url!r} {why}"])
    return address
