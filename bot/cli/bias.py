"""The command `council bias --rounds`: judges' bias in stored rounds."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bot.bakeoffs.bias_report import bias_report, load_bias, parse_bias_query
from bot.bootstrap import open_stores
from bot.chat import Line, Post
from bot.cli.output import Json, async_command, print_json, print_posts, text_option, write_file
from bot.render.bias_export import bias_document
from bot.render.bias_message import bias_post, render_combined_bias_png
from bot.render.bias_tables import BiasView, audit_lines, brand_table, judges_table, winning_table
from bot.render.formatting import panel_seat_names
from bot.settings import load_panel_config, load_settings


@async_command
async def of_rounds(
    since: Annotated[
        str, text_option(help="Only rounds since a day or an age: 2026-11-21, 30d, 2w, 12h.")
    ] = "",
    panel: Annotated[str, text_option(help="Only rounds of this panel.")] = "",
    suite: Annotated[str, text_option(help="Only rounds of this suite.")] = "",
    as_json: Json = False,
    to_png: Annotated[
        Path | None, typer.Option("--png", help="Save the charts to this PNG file.")
    ] = None,
) -> None:
    """Report judges' biases over stored rounds: own answers, family, order, length and style."""
    options = {"since": since, "panel": panel, "suite": suite}
    query = parse_bias_query(options, datetime.now(UTC))
    settings = load_settings()
    names = panel_seat_names(load_panel_config(settings.config_file).panels.values())
    async with open_stores(settings) as stores:
        measure = partial(bias_report, tell=partial(typer.echo, err=True))
        bias = await load_bias(stores, query, names, measure)
    print_bias(bias, as_json=as_json, to_png=to_png)


def print_bias(bias: BiasView, *, as_json: bool, to_png: Path | None) -> None:
    """Print a report or its JSON, and draw its figures into a file if one is named."""
    if to_png:
        write_file(to_png, render_combined_bias_png(bias))
    if as_json:
        print_json(bias_document(bias))
        return
    if to_png:
        typer.echo(f"Saved to {to_png}.")
    tables = (judges_table(bias), brand_table(bias), winning_table(bias))
    audits = Post(tuple(map(Line, audit_lines(bias))))
    print_posts((bias_post(bias), *(Post((table,)) for table in tables if table), audits))
