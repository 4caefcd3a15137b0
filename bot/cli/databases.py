"""The commands that look after the database."""

from typing import Annotated

import typer

from bot.cli.outcome import FAILED, MISUSED, fail, run

NAME_ONE = (
    "Name the database to copy into, as in: council db copy postgresql://USER:PASSWORD@HOST/NAME"
)


def upgrade() -> None:
    """Bring the database's schema up to date."""
    from bot.cli.stored import upgrade_schema

    run(upgrade_schema())


def copy(
    first: Annotated[
        str, typer.Argument(metavar="FROM", help="Without it: the one of the settings.")
    ] = "",
    second: Annotated[
        str, typer.Argument(metavar="TO", help="An address, or the path of an SQLite file.")
    ] = "",
    to: Annotated[str, typer.Option("--to", help="The same as TO.", show_default=False)] = "",
) -> None:
    """Copy everything into an empty database, from SQLite to Postgres or back, and check it.

    All of it is copied or nothing. Then each round is loaded from both, and verified; the chains
    are walked, and the money is added up. No program may use either meanwhile.
    """
    named = [one for one in (first, second, to) if one]
    if len(named) not in {1, 2}:
        fail(NAME_ONE, MISUSED)
    *source, target = named
    from bot.cli.copying import copy_database

    wrong: list[str] = []
    run(copy_database("".join(source), target, wrong.append))
    if wrong:
        raise typer.Exit(FAILED)
