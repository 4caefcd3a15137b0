"""The leaderboard on the command line, in every form it is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bot.bakeoffs.leaderboard import LeaderboardQuery, weighed
from bot.bakeoffs.leaderboard import leaderboard as _standing_leaderboard
from bot.bakeoffs.records import records_up_to_date
from bot.bootstrap import opened_books
from bot.cli.output import MISUSED, fail, print_posts, run, say_json, written_whole
from bot.render.formatting import known_names
from bot.render.leaderboard import board_thread, picture_of
from bot.render.leaderboard_export import board_document, csv_of
from bot.render.leaderboard_tables import Leaderboard
from bot.settings import load_houses, load_settings

# --- The leaderboard on the command line, in every form it is asked for.


@dataclass(frozen=True, slots=True)
class LeaderboardOptions:
    """What was asked for: which rounds, and the forms to give their board in."""

    sought: LeaderboardQuery
    as_json: bool
    to_csv: Path | None
    to_png: Path | None


async def show_leaderboard(wish: LeaderboardOptions) -> None:
    """Print a leaderboard, or its JSON, and write the files that are wanted."""
    settings = load_settings()
    names = known_names(load_houses(settings.named_config).panels.values())
    async with opened_books(settings) as books:
        await records_up_to_date(books, tell=partial(typer.echo, err=True))
        board = await _standing_leaderboard(
            books.bakeoff_stores, wish.sought, names, whole=not wish.as_json
        )
        board = await weighed(books, wish.sought, board)
    _write(wish, board)
    if wish.as_json:
        say_json(board_document(board, as_judge=wish.sought.as_judge))
    else:
        thread = board_thread(board, as_judge=wish.sought.as_judge)
        print_posts((thread.root, *thread.replies))


def _write(wish: LeaderboardOptions, board: Leaderboard) -> None:
    if wish.to_csv:
        with written_whole(wish.to_csv) as file:
            file.write(csv_of(board, as_judge=wish.sought.as_judge).encode())
    if wish.to_png:
        with written_whole(wish.to_png) as file:
            file.write(picture_of(board))
    for path in (wish.to_csv, wish.to_png):
        if path and not wish.as_json:
            typer.echo(f"Written to {path}.")


# --- `council leaderboard`: who does best over the stored rounds, as table, JSON, CSV and picture


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
    from bot.bakeoffs.leaderboard import LeaderboardQueryError, parse_query

    try:
        sought = parse_query(given, datetime.now(UTC))
    except LeaderboardQueryError as error:
        fail(str(error), MISUSED)
    run(show_leaderboard(LeaderboardOptions(sought, as_json, *files)))
