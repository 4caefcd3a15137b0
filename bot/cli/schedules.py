"""`council schedule`: recurring bake-offs that report to the page."""

from typing import Annotated

import typer

from bot.cli.outcome import run

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Name = Annotated[str, typer.Argument(help="The schedule's name.", show_default=False)]
Words = Annotated[
    list[str],
    typer.Argument(
        help="NAME suite:SUITE [panel:PANEL] [cap:$2] every monday 09:00 Europe/Budapest",
        show_default=False,
    ),
]


def add(words: Words) -> None:
    """Have a suite put to a panel again and again, and posted on the page."""
    _say("add", *words)


def list_(as_json: Json = False) -> None:
    """List every schedule, with its next times, its last run and its cost."""
    if not as_json:
        _say("list")
        return
    from bot.cli.scheduled import print_schedules

    run(print_schedules())


def edit(words: Words) -> None:
    """Change a schedule: NAME, then what is to be another."""
    _say("edit", *words)


def pause(name: Name) -> None:
    """Have a schedule not run until it is resumed."""
    _say("pause", name)


def resume(name: Name) -> None:
    """Go on with a schedule that was paused."""
    _say("resume", name)


def remove(name: Name) -> None:
    """Have a schedule no more; its bake-offs stay."""
    _say("remove", name)


def run_(name: Name) -> None:
    """Run a schedule now, beside its times."""
    _say("run", name)


def _say(verb: str, *words: str) -> None:
    from bot.cli.scheduled import say

    # What the shell took for one word is one: a cron in quotes.
    quoted = (f'"{word}"' if " " in word and '"' not in word else word for word in words)
    run(say(" ".join((verb, *quoted))))
