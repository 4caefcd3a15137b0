"""The commands that look at what is stored and how things stand."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.outcome import FAILED, MISUSED, fail, run

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


def verify(
    round_id: Annotated[str, typer.Argument(help="A round's id.", show_default=False)] = "",
    every: Annotated[bool, typer.Option("--all", help="Verify every stored round.")] = False,
    source: Annotated[
        Path | None, typer.Option("--from", help="Verify every round of an export.")
    ] = None,
    text: Annotated[
        Path | None, typer.Option(help="Say which text of the round this file holds.")
    ] = None,
) -> None:
    """Recompute rounds from seed and raw ballots, and name every field that differs."""
    if sum([bool(round_id), every, bool(source)]) != 1 or (text and not round_id):
        fail("Name one round, or give --all. An export is named with --from.", MISUSED)
    from bot.cli.verifying import prove_text, verify_file, verify_rounds

    differing: list[str] = []
    if source:
        run(verify_file(source, differing.append))
    elif text:
        run(prove_text(round_id, text, differing.append))
    else:
        run(verify_rounds(round_id or None, differing.append))
    if differing:
        raise typer.Exit(FAILED)


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


def upgrade_database() -> None:
    """Bring the database's schema up to date."""
    from bot.cli.stored import upgrade_schema

    run(upgrade_schema())
