"""`council chat` and `council serve`: the bot as long as it runs."""

from typing import Annotated

import typer

from bot.cli.outcome import run

Local = Annotated[bool, typer.Option("--local", help="Have the demonstration models at hand.")]


def chat(local: Local = False) -> None:
    """Talk to the council in the terminal."""
    from bot.cli.staying import converse

    run(converse(local=local))


def serve(local: Local = False) -> None:
    """Start everything that has what it needs, and say what was not started."""
    from bot.cli.staying import serve as serve_all

    run(serve_all(local=local))
