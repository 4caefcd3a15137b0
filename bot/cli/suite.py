"""The commands for suites: lists of questions that bake-offs put to panels."""

from typing import Annotated

import typer

from bot.cli.outcome import run

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Name = Annotated[str, typer.Argument(help="A suite's name.")]
Yes = Annotated[bool, typer.Option("--yes", help="Keep it without asking.")]


def list_(as_json: Json = False) -> None:
    """List the suites."""
    from bot.cli.suites import list_suites

    run(list_suites(as_json=as_json))


def show(name: Name, as_json: Json = False) -> None:
    """Show a suite: its questions, and what one run costs."""
    from bot.cli.suites import show_suite

    run(show_suite(name, as_json=as_json))


def add(
    name: Name,
    source: Annotated[str, typer.Argument(help="A file of questions; or a round, or last.")],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Keep a suite of a file's questions, or add a round's question to one."""
    from bot.cli.suites import add_suite

    run(add_suite(name, source, yes=yes, as_json=as_json))


def remove(name: Name, as_json: Json = False) -> None:
    """Have a suite in no list any more; what was measured on it stays."""
    from bot.cli.suites import remove_suite

    run(remove_suite(name, as_json=as_json))
