"""`council slack`: setting the Slack app up."""

from typing import Annotated

import typer

from bot.cli.outcome import FAILED, run

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


def validate() -> None:
    """Have Slack check what messages and modals look like; needs no token, sends nobody's text."""
    from bot.cli.slack_app import validate_samples

    refused: list[str] = []
    run(validate_samples(refused.append))
    if refused:
        raise typer.Exit(FAILED)
