"""The bias of judges over the stored rounds: printed, as JSON, as a picture."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import typer

from bot.bakeoffs.bias_report import bias_report, bias_sought, shown_bias
from bot.bakeoffs.leaderboard import Sought, SoughtError
from bot.books import opened_books
from bot.cli.outcome import MISUSED, fail, run, say_json
from bot.cli.printing import print_posts
from bot.cli.whole_file import written_whole
from bot.render.bias_export import bias_document
from bot.render.bias_message import bias_thread, whole_picture_of
from bot.render.bias_view import ShownBias
from bot.render.formatting import known_names
from bot.settings import load_houses, load_settings


def report_rounds(given: Mapping[str, str], *, as_json: bool, to_png: Path | None) -> None:
    """Report on the rounds that options mean: since, panel and suite; "" means nothing."""
    try:
        sought = bias_sought(given, datetime.now(UTC))
    except SoughtError as error:
        fail(str(error), MISUSED)
    run(_report(sought, as_json=as_json, to_png=to_png))


async def _report(sought: Sought, *, as_json: bool, to_png: Path | None) -> None:
    settings = load_settings()
    names = known_names(load_houses(settings.named_config).panels.values())
    async with opened_books(settings) as books:
        measure = partial(bias_report, tell=partial(typer.echo, err=True))
        bias = await shown_bias(books, sought, names, measure)
    give(bias, as_json=as_json, to_png=to_png)


def give(bias: ShownBias, *, as_json: bool, to_png: Path | None) -> None:
    """Print a report, or its JSON, and draw its figures into a file where one is named."""
    if to_png:
        with written_whole(to_png) as file:
            file.write(whole_picture_of(bias))
    if as_json:
        say_json(bias_document(bias))
        return
    if to_png:
        typer.echo(f"Written to {to_png}.")
    thread = bias_thread(bias)
    print_posts((thread.root, *thread.replies))
