"""`council verify`: what is stored or exported, recomputed and held against its chain."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.outcome import FAILED, MISUSED, fail, run

ONE_THING = (
    "Name one round, or give --all. A file of an export will do too, and --head stands alone; "
    "--text goes with a round, --since-head with --all."
)


# Typer reads its options off the parameters, so there are as many as there are options.
def verify(  # noqa: PLR0913, PLR0917
    what: Annotated[
        str,
        typer.Argument(
            metavar="[ROUND|FILE]", help="A round's id, or a file of an export.", show_default=False
        ),
    ] = "",
    every: Annotated[
        bool, typer.Option("--all", help="Verify every stored round, and every chain.")
    ] = False,
    source: Annotated[
        Path | None, typer.Option("--from", help="Verify every round of an export.")
    ] = None,
    text: Annotated[
        Path | None, typer.Option(help="Say which text of the round this file holds.")
    ] = None,
    head: Annotated[
        bool, typer.Option("--head", help="Walk the chains; print each one's length and last hash.")
    ] = False,
    since_head: Annotated[
        list[str] | None,
        typer.Option(help="A hash that --head once printed: nothing up to it may be rewritten."),
    ] = None,
) -> None:
    """Recompute rounds, hold them against their chain, and name every field that differs."""
    is_stray = bool(text and not what) or bool(since_head and not every)
    if sum([bool(what), every, bool(source), head]) != 1 or is_stray:
        fail(ONE_THING, MISUSED)
    differing: list[str] = []
    if head or every:
        _stored(differing, heads=tuple(since_head or ()), only_heads=head)
    else:
        _named(what, source, text, differing)
    if differing:
        raise typer.Exit(FAILED)


def _stored(differing: list[str], heads: tuple[str, ...], *, only_heads: bool) -> None:
    from bot.cli.chains import show_heads
    from bot.cli.verifying import verify_all

    run(show_heads(differing.append) if only_heads else verify_all(heads, differing.append))


def _named(what: str, source: Path | None, text: Path | None, differing: list[str]) -> None:
    from bot.cli.verifying import prove_text, verify_file, verify_round

    if text:
        run(prove_text(what, text, differing.append))
    elif source or _is_file(what):
        run(verify_file(source or Path(what), differing.append))
    else:
        run(verify_round(what, differing.append))


def _is_file(what: str) -> bool:
    try:
        return Path(what).is_file()
    except OSError:  # no file can be called so
        return False
