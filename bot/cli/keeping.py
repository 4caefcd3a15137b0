"""The commands for data out, data in and data gone."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.moments import moment
from bot.cli.outcome import FAILED, MISUSED, fail, run


def export(
    round_id: Annotated[
        str, typer.Argument(help="A round's id; else every round.", show_default=False)
    ] = "",
    since: Annotated[str | None, typer.Option(help="Rounds asked on this day or later.")] = None,
    to: Annotated[
        Path | None, typer.Option("--to", "--output", help="A file; else it is printed.")
    ] = None,
) -> None:
    """Write one round, or every round and what bake-offs keep, with all that is stored of it.

    Each is a line of JSON that `council verify FILE` checks on any machine.
    """
    if round_id and since:
        fail("Name one round, or give --since DATE.", MISUSED)
    asked_since = moment(since)
    from bot.cli.exports import export_round, export_rounds

    told = _Told()
    run(export_round(round_id, to) if round_id else export_rounds(asked_since, to, told))
    told.end()


def import_(file: Annotated[Path, typer.Argument(help="An export.")]) -> None:
    """Take exported rounds in; those that are there already are left alone."""
    from bot.cli.taking_in import import_rounds

    told = _Told()
    run(import_rounds(file, told))
    told.end()


def forget(
    round_id: Annotated[str, typer.Argument(help="A round's id.", show_default=False)] = "",
    older_than: Annotated[
        int | None, typer.Option(min=1, max=36500, help="Forget every round older, in days.")
    ] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="The round stopped before its end.")
    ] = False,
) -> None:
    """Remove what was said in a round for good; standings, cost and digests stay."""
    if bool(round_id) == bool(older_than):
        fail("Name one round, or give --older-than DAYS.", MISUSED)
    from bot.cli.forgetting import forget_old, forget_round

    told = _Told()
    if older_than:
        run(forget_old(older_than, told))
    else:
        run(forget_round(round_id, unfinished=unfinished))
    told.end()


class _Told:
    """Tells on stderr what went wrong with one of many, and fails at the end."""

    def __init__(self) -> None:
        self._faults = 0

    def __call__(self, fault: str) -> None:
        self._faults += 1
        typer.echo(fault, err=True)

    def end(self) -> None:
        """End with exit code 1 if anything was told."""
        if self._faults:
            raise typer.Exit(FAILED)
