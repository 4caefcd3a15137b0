"""`council tally` and `council slates`: counting and drawing without a round."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.outcome import MISUSED, fail, run, say_json

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def tally(
    file: Annotated[Path, typer.Argument(help="Ballots as JSON.")], as_json: Json = False
) -> None:
    """Count the ballots of a file."""
    from bot.cli.ballot_file import count_file

    run(count_file(file, as_json=as_json))


def slates(
    candidates: Annotated[int, typer.Option(help="How many members answer.")],
    seed: Annotated[str, typer.Option(help="The round's seed.")],
    outside: Annotated[int, typer.Option(min=0, help="How many outside judges.")] = 0,
    as_json: Json = False,
) -> None:
    """Draw the labels and slates that a round with this seed would use."""
    from council.labels import draw_labels, draw_slates
    from council.panel import FEWEST_SEATS, MOST_SEATS

    if not FEWEST_SEATS <= candidates <= MOST_SEATS:
        fail(f"Between {FEWEST_SEATS} and {MOST_SEATS} candidates can be ranked.", MISUSED)
    authors = [str(i) for i in range(candidates)]
    labels = draw_labels(authors, seed)
    drawn = draw_slates(labels, [str(candidates + i) for i in range(outside)], seed)
    found = [{"judge": int(slate.judge), "shown": list(slate.shown)} for slate in drawn]
    if as_json:
        say_json({"labels": list(labels.labels), "slates": found})
        return
    typer.echo(f"labels: {' '.join(labels.labels)}")
    for slate in drawn:
        typer.echo(f"judge {slate.judge} sees {' '.join(slate.shown)}")
