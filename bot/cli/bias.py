"""`council bias`: how biased judges are, over the stored rounds."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.outcome import MISUSED, fail


# Typer reads its options off the parameters, so there are as many as there are options.
def bias(  # noqa: PLR0913, PLR0917
    rounds: Annotated[bool, typer.Option("--rounds", help="Measure the stored rounds.")] = False,
    since: Annotated[
        str, typer.Option(help="Asked since: 2026-11-21, or 30d, 2w, 12h ago.", show_default=False)
    ] = "",
    panel: Annotated[str, typer.Option(help="One panel's rounds.", show_default=False)] = "",
    suite: Annotated[str, typer.Option(help="One suite's rounds.", show_default=False)] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    to_png: Annotated[
        Path | None, typer.Option("--png", help="Draw the figures into a file.")
    ] = None,
) -> None:
    """Show the bias of judges: how they rank themselves, their family, slots, length and style."""
    from bot.cli.bias_rounds import report_rounds

    if not rounds:
        fail("Say what to measure: `council bias --rounds` measures the stored rounds.", MISUSED)
    given = {"since": since, "panel": panel, "suite": suite}
    report_rounds(given, as_json=as_json, to_png=to_png)
