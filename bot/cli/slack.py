"""`council slack`: setting the Slack app up."""

from typing import Annotated

import typer

from bot.cli.outcome import run

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def manifest(
    url: Annotated[
        str | None,
        typer.Option(help="Where Slack reaches the bot over HTTP: https://council.example.com"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the app's manifest: for Socket Mode, or with --url for HTTP."""
    from bot.cli.slack_app import print_manifest

    run(print_manifest(url, as_json=as_json))
