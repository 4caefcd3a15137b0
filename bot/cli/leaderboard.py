"""`council leaderboard`: who does best over the stored rounds, as table, JSON, CSV and picture."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.outcome import MISUSED, fail, run


# Typer reads its options off the parameters, so there are as many as there are options.
def leaderboard(  # noqa: PLR0913, PLR0917
    suite: Annotated[
        str, typer.Option(help="A suite, or suite@version; else every round.", show_default=False)
    ] = "",
    panel: Annotated[str, typer.Option(help="One panel's rounds.", show_default=False)] = "",
    category: Annotated[
        str, typer.Option(help="Questions of one category.", show_default=False)
    ] = "",
    since: Annotated[
        str, typer.Option(help="Asked since: 2026-11-21, or 30d, 2w, 12h ago.", show_default=False)
    ] = "",
    until: Annotated[
        str, typer.Option(help="Asked until then, the day itself counted.", show_default=False)
    ] = "",
    view: Annotated[str, typer.Option("--as", help="author or judge.")] = "author",
    weights: Annotated[
        str,
        typer.Option(
            help="Show beside it how judges weighed by consistency, human, family or peerrank "
            "would rank.",
            show_default=False,
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    to_csv: Annotated[
        Path | None, typer.Option("--csv", help="Write the rows to a file, for spreadsheets.")
    ] = None,
    to_png: Annotated[
        Path | None, typer.Option("--png", help="Draw the figure into a file.")
    ] = None,
) -> None:
    """Show the leaderboard: members as authors, or seats as judges, over the stored rounds."""
    given = {"suite": suite, "panel": panel, "category": category}
    given |= {"since": since, "until": until, "as": view, "weights": weights}
    from bot.bakeoffs.records import uncollected

    with uncollected():
        _show(given, as_json=as_json, files=(to_csv, to_png))


def _show(
    given: Mapping[str, str], *, as_json: bool, files: tuple[Path | None, Path | None]
) -> None:
    from bot.bakeoffs.leaderboard import SoughtError, sought_by
    from bot.cli.standing import Wish, show_leaderboard

    try:
        sought = sought_by(given, datetime.now(UTC))
    except SoughtError as error:
        fail(str(error), MISUSED)
    run(show_leaderboard(Wish(sought, as_json, *files)))
