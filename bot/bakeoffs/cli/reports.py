"""The commands `council leaderboard` and `council bias --rounds`: reports over stored rounds."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bot.bakeoffs.bias_report import bias_report, load_bias, mark_biased_judges, parse_bias_query
from bot.bakeoffs.leaderboard import load_leaderboard, parse_query
from bot.bakeoffs.parts import add_to_leaderboard, bakeoff_stores
from bot.bakeoffs.records import update_records
from bot.bakeoffs.render.bias_export import bias_document
from bot.bakeoffs.render.bias_message import bias_post, render_combined_bias_png
from bot.bakeoffs.render.bias_tables import (
    BiasView,
    audit_lines,
    brand_table,
    judges_table,
    winning_table,
)
from bot.bakeoffs.render.bias_verdicts import chairmen_table, verdict_table
from bot.bakeoffs.render.leaderboard import leaderboard_thread, render_leaderboard_png
from bot.bakeoffs.render.leaderboard_export import leaderboard_csv, leaderboard_document
from bot.chat import Line, Post
from bot.cli.output import (
    FullBoard,
    Json,
    Since,
    async_command,
    print_json,
    print_note,
    print_posts,
    text_option,
    write_file,
)
from bot.database import open_stores
from bot.render.formatting import panel_seat_names
from bot.settings import Settings, load_panel_config, load_settings

OfPanel = Annotated[str, text_option(help="Only rounds of this panel.")]
tell = partial(typer.echo, err=True)


# Typer reads its options off the parameters, so there are as many as there are options.
@async_command
async def leaderboard(  # noqa: PLR0913, PLR0917
    suite: Annotated[str, text_option(help="Only this suite, or suite@version.")] = "",
    panel: OfPanel = "",
    category: Annotated[str, text_option(help="Only questions of this category.")] = "",
    since: Since = "",
    until: Annotated[str, text_option(help="Only rounds up to and including this day.")] = "",
    view: Annotated[
        str, typer.Option("--as", help="Rank models as authors or as judges.")
    ] = "author",
    weights: Annotated[
        str,
        text_option(
            help="Also show the ranking with weighted judges: consistency, human, family, "
            "peerrank, independence."
        ),
    ] = "",
    full: FullBoard = False,
    as_json: Json = False,
    to_csv: Annotated[
        Path | None, typer.Option("--csv", help="Write the rows to a CSV file.")
    ] = None,
    to_png: Annotated[Path | None, typer.Option("--png", help="Save the chart to a file.")] = None,
) -> None:
    """Rank models as authors or as judges, over stored rounds, with intervals."""
    options = {"suite": suite, "panel": panel, "category": category}
    options |= {"since": since, "until": until, "as": view, "weights": weights}
    query = parse_query(options, datetime.now(UTC))
    settings = load_settings()
    async with open_stores(settings) as stores:
        await update_records(stores, tell)
        board = await load_leaderboard(bakeoff_stores(stores), query, _names(settings))
        board = await mark_biased_judges(stores, query, board)
        board = await add_to_leaderboard(stores, query.wanted, query.weights, board)
    if to_csv:
        _save(to_csv, leaderboard_csv(board, as_judge=query.as_judge).encode(), quiet=as_json)
    if to_png:
        _save(to_png, render_leaderboard_png(board), quiet=as_json)
    if as_json:
        print_json(leaderboard_document(board, as_judge=query.as_judge))
    else:
        thread = leaderboard_thread(board, as_judge=query.as_judge)
        print_posts((thread.root, *(thread.replies if full or query.weights else ())))
        if thread.replies and not (full or query.weights):
            print_note("More: council leaderboard --full")


@async_command
async def bias(
    since: Since = "",
    panel: OfPanel = "",
    suite: Annotated[str, text_option(help="Only rounds of this suite.")] = "",
    full: FullBoard = False,
    as_json: Json = False,
    to_png: Annotated[
        Path | None, typer.Option("--png", help="Save the charts to this PNG file.")
    ] = None,
) -> None:
    """Report the biases of judges over stored rounds.

    They can prefer their own answers, their family, an order, length or style.
    """
    options = {"since": since, "panel": panel, "suite": suite}
    query = parse_bias_query(options, datetime.now(UTC))
    settings = load_settings()
    async with open_stores(settings) as stores:
        measure = partial(bias_report, tell=tell)
        found = await load_bias(stores, query, _names(settings), measure)
    print_bias(found, as_json=as_json, to_png=to_png, full=full)


def print_bias(bias: BiasView, *, as_json: bool, to_png: Path | None, full: bool = False) -> None:
    """Print a report, `full` with every table, or its JSON; draw it into a file if one is named."""
    if to_png:
        _save(to_png, render_combined_bias_png(bias), quiet=as_json)
    if as_json:
        print_json(bias_document(bias))
        return
    print_posts((bias_post(bias),))
    if not bias.report.rounds:
        return
    if not full:
        print_note("More: council bias rounds --full")
        return
    tables = (
        judges_table(bias),
        brand_table(bias),
        winning_table(bias),
        verdict_table(bias),
        chairmen_table(bias),
    )
    audits = Post(tuple(map(Line, audit_lines(bias))))
    print_posts([*(Post((table,)) for table in tables if table), audits])


def _names(settings: Settings) -> dict[str, str]:
    return panel_seat_names(load_panel_config(settings.config_file).panels.values())


def _save(path: Path, content: bytes, *, quiet: bool) -> None:
    write_file(path, content)
    if not quiet:
        typer.echo(f"Saved to {path}.")
