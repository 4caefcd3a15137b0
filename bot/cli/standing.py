"""The leaderboard on the command line, in every form it is asked for."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer

from bot.bakeoffs.leaderboard import Sought, leaderboard, weighed
from bot.bakeoffs.records import records_up_to_date
from bot.books import opened_books
from bot.cli.outcome import say_json
from bot.cli.printing import print_posts
from bot.cli.whole_file import written_whole
from bot.render.formatting import known_names
from bot.render.leaderboard import board_thread, picture_of
from bot.render.leaderboard_export import board_document, csv_of
from bot.render.leaderboard_tables import Leaderboard
from bot.settings import load_houses, load_settings


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for: which rounds, and the forms to give their board in."""

    sought: Sought
    as_json: bool
    to_csv: Path | None
    to_png: Path | None


async def show_leaderboard(wish: Wish) -> None:
    """Print a leaderboard, or its JSON, and write the files that are wanted."""
    settings = load_settings()
    names = known_names(load_houses(settings.named_config).panels.values())
    async with opened_books(settings) as books:
        await records_up_to_date(books, tell=partial(typer.echo, err=True))
        board = await leaderboard(books.bench, wish.sought, names, whole=not wish.as_json)
        board = await weighed(books, wish.sought, board)
    _write(wish, board)
    if wish.as_json:
        say_json(board_document(board, as_judge=wish.sought.as_judge))
    else:
        thread = board_thread(board, as_judge=wish.sought.as_judge)
        print_posts((thread.root, *thread.replies))


def _write(wish: Wish, board: Leaderboard) -> None:
    if wish.to_csv:
        with written_whole(wish.to_csv) as file:
            file.write(csv_of(board, as_judge=wish.sought.as_judge).encode())
    if wish.to_png:
        with written_whole(wish.to_png) as file:
            file.write(picture_of(board))
    for path in (wish.to_csv, wish.to_png):
        if path and not wish.as_json:
            typer.echo(f"Written to {path}.")
