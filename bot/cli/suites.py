"""The suite that is meant on the command line: one of those kept, or a file that holds one."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bot.bootstrap import StartOptions, opened_app
from bot.chat import IncomingMessage, Post
from bot.cli.output import run, say_json
from bot.cli.rounds import YOU
from bot.commands.bakeoffs import meant_suite
from bot.commands.context import AppContext
from bot.commands.suites import draft, grown, run_of
from bot.commands.suites import remove as _suites_remove
from bot.render.suites import SuiteRunCost, cost_line, kept_post, list_post, size_line, suite_post
from bot.settings import load_settings
from bot.suite_files import (
    READERS,
    TOML,
    check_size,
    checked_name,
    name_from,
    read_file,
    suite_document,
)
from bot.terminal import HERE, TerminalChat, dressed
from council.bakeoffs.models import Suite
from council.bakeoffs.ports import SuiteSummary
from council.errors import SuiteError

suite_app = typer.Typer(help="Keep lists of questions for bake-offs.", no_args_is_help=True)

# --- The suite that is meant on the command line: one of those kept, or a file that holds one.


async def suite_named(app: AppContext, named: str) -> Suite:
    """Give the suite; SuiteError where there is none of this name, or its file cannot be read."""
    path = Path(named)
    if path.suffix.lower() not in {*READERS, ".toml"}:
        return await meant_suite(app, HERE, named)
    return read_file(name_from(path.stem), path.name, _content(path))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SuiteError(f"{path} cannot be read ({error.strerror}): name another file.") from None


# --- Suites on the command line: listed, shown, added, removed.


async def list_suites(*, as_json: bool) -> None:
    """Print the house's suites, or their JSON."""
    async with opened_app(load_settings(), StartOptions()) as app:
        lines = await app.bakeoff_stores.suites.lines("")
    if as_json:
        say_json([_line(line) for line in lines])
    else:
        _print(list_post(lines, ""))


async def show_suite(name: str, *, as_json: bool) -> None:
    """Print a suite, or its JSON with every question."""
    async with opened_app(load_settings(), StartOptions()) as app:
        suite = await app.bakeoff_stores.suites.load("", name.lower())
        run = await run_of(app, HERE, suite)
    if as_json:
        say_json({**suite_document(suite), **_cost(run)})
    else:
        _print(suite_post(suite, run))


async def add_suite(name: str, source: str, *, yes: bool, as_json: bool) -> None:
    """Keep a suite once its size and cost were seen; asked about unless `yes`, or for JSON."""
    checked = checked_name(name)
    async with opened_app(load_settings(), StartOptions()) as app:
        said = IncomingMessage("", YOU, HERE, app.new_id())
        suite, before = await draft(app, said, await _made(app, said, checked, source))
        run = await run_of(app, HERE, suite)
        is_new = before is None or before.version != suite.version
        if not (yes or as_json):
            _check_wanted(suite, run, before)
        if is_new:
            await app.bakeoff_stores.suites.keep(suite, YOU.id, app.now())
    if as_json:
        say_json({**suite_document(suite), **_cost(run), "new": is_new})
    else:
        _print(kept_post(suite, run))


async def remove_suite(name: str, *, as_json: bool) -> None:
    """Remove a suite of the house."""
    async with opened_app(load_settings(), StartOptions()) as app:
        said = IncomingMessage("", YOU, HERE, app.new_id())
        await _suites_remove(app, TerminalChat(Console(quiet=as_json, highlight=False)), said, name)
    if as_json:
        say_json({"removed": name.lower()})


async def _made(app: AppContext, said: IncomingMessage, name: str, source: str) -> Suite:
    """Give the suite of a file, or the one that a round's question joins."""
    if _is_file(Path(source)):
        return _read(name, Path(source))
    return await grown(app, said, name, source)


def _is_file(path: Path) -> bool:
    """Say whether a file is meant: a round's id never ends like a file of questions."""
    return path.suffix.lower() in {*READERS, TOML} or path.is_file()


def _read(name: str, path: Path) -> Suite:
    try:
        check_size(path.name, path.stat().st_size)
        content = path.read_bytes()
    except OSError as error:
        raise SuiteError(
            f"{path} cannot be read ({error.strerror}): name a file of questions, or a round."
        ) from None
    return read_file(name, path.name, content)


def _check_wanted(suite: Suite, run: SuiteRunCost | None, before: SuiteSummary | None) -> None:
    """Show size and cost and ask; without anybody to answer nothing is kept."""
    typer.echo(f"Suite {suite.name}: {size_line(suite)}")
    typer.echo(cost_line(run))
    if before and before.version != suite.version:
        typer.echo(f"It takes the place of version {before.version}.")
    try:
        is_wanted = typer.confirm("Keep it?", default=True)
    except typer.Abort:
        is_wanted = False
    if not is_wanted:
        raise SuiteError("Nothing was kept; --yes keeps it without asking.")


def _line(line: SuiteSummary) -> dict[str, Any]:
    return {
        "name": line.name,
        "questions": line.questions,
        "graded": line.graded,
        "version": line.version,
        "kept_at": line.kept_at.isoformat(),
    }


def _cost(run: SuiteRunCost | None) -> dict[str, Any]:
    if run is None:
        return {"panel": None, "cost_usd": None, "cost_unknown": []}
    estimate = run.estimate
    return {
        "panel": run.panel.name,
        "cost_usd": estimate.micro / 1_000_000,
        "cost_unknown": list(estimate.unknown),
    }


def _print(post: Post) -> None:
    Console(highlight=False).print(dressed(post))


# --- The commands for suites: lists of questions that bake-offs put to panels.

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Name = Annotated[str, typer.Argument(help="A suite's name.")]
Yes = Annotated[bool, typer.Option("--yes", help="Keep it without asking.")]


@suite_app.command("list")
def list_(as_json: Json = False) -> None:
    """List the suites."""
    run(list_suites(as_json=as_json))


@suite_app.command()
def show(name: Name, as_json: Json = False) -> None:
    """Show a suite: its questions, and what one run costs."""
    run(show_suite(name, as_json=as_json))


@suite_app.command()
def add(
    name: Name,
    source: Annotated[str, typer.Argument(help="A file of questions; or a round, or last.")],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Keep a suite of a file's questions, or add a round's question to one."""
    run(add_suite(name, source, yes=yes, as_json=as_json))


@suite_app.command()
def remove(name: Name, as_json: Json = False) -> None:
    """Have a suite in no list any more; what was measured on it stays."""
    run(remove_suite(name, as_json=as_json))
