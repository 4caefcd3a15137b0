"""The commands `council suite`: lists of questions that bake-offs put to panels."""

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bot.bakeoffs.commands import suites
from bot.bakeoffs.commands.bakeoffs import load_suite_to_run
from bot.bakeoffs.file_parsers import check_size
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.suites import (
    SuiteRunCost,
    cost_line,
    left_out_lines,
    size_line,
    suite_post,
    suite_saved_post,
    suites_post,
)
from bot.bakeoffs.suite_files import (
    ReadingOptions,
    SuiteFile,
    read_suite_file,
    suite_document,
    suite_suffixes,
    validate_suite_name,
)
from bot.bootstrap import open_app
from bot.chat import TERMINAL, TERMINAL_USER, IncomingMessage
from bot.cli.completion import complete
from bot.cli.output import Json, async_command, print_json, print_post, read_file
from bot.context import AppContext
from bot.settings import load_settings
from bot.terminal import TerminalChat
from council.bakeoffs.models import Suite
from council.bakeoffs.ports import SuiteSummary
from council.errors import SuiteError
from council.registry import Registry

suite_app = typer.Typer(help="Manage lists of questions for bake-offs.", no_args_is_help=True)

Name = Annotated[
    str,
    typer.Argument(
        help="A suite's name.",
        autocompletion=complete(suggest="bot.bakeoffs.commands.table:suggest_suites"),
    ),
]
Partial = Annotated[
    bool,
    typer.Option("--partial", help="Grade by the checks that can be imported, if some can't."),
]
Column = Annotated[str, typer.Option(metavar="COLUMN", help="The name of this column in the file.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


@suite_app.command("list")
@async_command
async def list_(as_json: Json = False) -> None:
    """List suites."""
    async with open_app(load_settings()) as app:
        summaries = await bakeoff_stores(app).suites.list_summaries("")
    if as_json:
        print_json([_summary_document(summary) for summary in summaries])
    else:
        print_post(suites_post(summaries, ""))


@suite_app.command()
@async_command
async def show(name: Name, as_json: Json = False) -> None:
    """Show a suite's questions, and what one run costs."""
    async with open_app(load_settings()) as app:
        suite = await bakeoff_stores(app).suites.load("", name.lower())
        cost = await suites.estimate_suite_run(app, TERMINAL, suite)
    if as_json:
        print_json({**suite_document(suite), **_cost_document(cost)})
    else:
        print_post(suite_post(suite, cost, app.registry))


@suite_app.command()
@async_command
async def add(  # noqa: PLR0913, PLR0917
    name: Name,
    source: Annotated[str, typer.Argument(help="A file of questions, a round's id, or last.")],
    question: Column = "",
    answer: Column = "",
    category: Column = "",
    partial: Partial = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Store a file as a suite, or add a round's question to one."""
    name = validate_suite_name(name)
    async with open_app(load_settings()) as app:
        message = IncomingMessage("", TERMINAL_USER, TERMINAL, app.new_id())
        if _is_file(source, app.registry):
            chosen = {"question": question, "answer": answer, "category": category}
            columns = {name: column for name, column in chosen.items() if column}
            options = ReadingOptions("", partial, columns, Path(source).parent)
            file = _read_suite(name, Path(source), app.registry, options)
        else:
            file = SuiteFile(await suites.suite_with_round(app, message, name, source))
        suite, before = await suites.with_existing_summary(app, message, file.suite)
        cost = await suites.estimate_suite_run(app, TERMINAL, suite)
        is_new = before is None or before.version != suite.version
        if not as_json:
            print_left_out(file)
        if not (yes or as_json):
            _confirm(suite, cost, before)
        if is_new:
            await bakeoff_stores(app).suites.save(suite, TERMINAL_USER.id, app.now())
    if as_json:
        missing = [asdict(one) for one in file.left_out]
        document = {**suite_document(suite), **_cost_document(cost)}
        print_json({**document, "new": is_new, "left_out": missing})
    else:
        print_post(suite_saved_post(suite, cost))


@suite_app.command()
@async_command
async def remove(name: Name, as_json: Json = False) -> None:
    """Remove a suite; its results stay."""
    async with open_app(load_settings()) as app:
        message = IncomingMessage("", TERMINAL_USER, TERMINAL, app.new_id())
        chat = TerminalChat(Console(quiet=as_json, highlight=False))
        await suites.remove_suite(app, chat, message, name)
    if as_json:
        print_json({"removed": name.lower()})


async def find_suite(app: AppContext, name_or_file: str) -> Suite:
    """Return a stored suite or the suite of a file; raise SuiteError if there is none.

    Print to standard error what of the file cannot be imported.
    """
    path = Path(name_or_file)
    if path.suffix.lower() not in suite_suffixes(app.registry):
        return await load_suite_to_run(app, TERMINAL, name_or_file)
    options = ReadingOptions(folder=path.parent)
    file = _read_suite(path.stem.replace(" ", "-"), path, app.registry, options)
    print_left_out(file)
    return file.suite


def print_left_out(file: SuiteFile) -> None:
    """Print to standard error what of a file cannot be imported."""
    for line in left_out_lines(file.left_out):
        typer.echo(line, err=True)


def _is_file(source: str, registry: Registry) -> bool:
    # A round's id never ends like a file of questions.
    path = Path(source)
    return path.suffix.lower() in suite_suffixes(registry) or path.is_file()


def _read_suite(name: str, path: Path, registry: Registry, options: ReadingOptions) -> SuiteFile:
    with suppress(OSError):  # reading reports a missing file
        check_size(path.name, path.stat().st_size)
    content = read_file(path, "Name a file of questions, or a round.")
    return read_suite_file(name, path.name, content, options, registry)


def _confirm(suite: Suite, cost: SuiteRunCost | None, before: SuiteSummary | None) -> None:
    typer.echo(f"Suite {suite.name}: {size_line(suite)}")
    typer.echo(cost_line(cost))
    if before and before.version != suite.version:
        typer.echo(f"It replaces version {before.version}.")
    try:
        is_confirmed = typer.confirm("Save it?", default=True)
    except typer.Abort:
        is_confirmed = False
    if not is_confirmed:
        raise SuiteError("Nothing was saved. Add --yes to save without confirmation.")


def _summary_document(summary: SuiteSummary) -> dict[str, Any]:
    return {
        "name": summary.name,
        "questions": summary.questions,
        "graded": summary.graded,
        "version": summary.version,
        "kept_at": summary.kept_at.isoformat(),
    }


def _cost_document(cost: SuiteRunCost | None) -> dict[str, Any]:
    if cost is None:
        return {"panel": None, "cost_usd": None, "cost_unknown": []}
    estimate = cost.estimate
    return {
        "panel": cost.panel.name,
        "cost_usd": estimate.micro / 1_000_000,
        "cost_unknown": list(estimate.unknown),
    }
