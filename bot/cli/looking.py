"""The commands that look at what is stored and how things stand."""

from typing import Annotated

import typer

from bot.cli.outcome import FAILED, run

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
RoundId = Annotated[str, typer.Argument(help="A round's id, or its beginning.")]


def show(round_id: RoundId, as_json: Json = False) -> None:
    """Show a stored round."""
    from bot.cli.stored import show_round

    run(show_round(round_id, as_json=as_json))


def rounds(as_json: Json = False) -> None:
    """List the stored rounds, newest first."""
    from bot.cli.stored import list_rounds

    run(list_rounds(as_json=as_json))


def budget(as_json: Json = False) -> None:
    """Show what is spent, what is reserved for rounds under way, and what is left."""
    from bot.cli.budget import show_budgets

    run(show_budgets(as_json=as_json))


def doctor(
    live: Annotated[
        bool, typer.Option("--live", help="Spend one tiny call on each model.")
    ] = False,
) -> None:
    """Check settings, database and models."""
    from bot.cli.doctor import examine

    failed: list[str] = []
    run(examine(failed.append, live=live))
    if failed:
        raise typer.Exit(FAILED)
