"""Suites on the command line: listed, shown, added, removed."""

from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from bot.chat import Post, Said
from bot.cli.outcome import say_json
from bot.cli.rounds import YOU
from bot.commands.context import Desk
from bot.commands.suites import draft, grown, remove, run_of
from bot.render.suites import Run, cost_line, kept_post, list_post, size_line, suite_post
from bot.settings import load_settings
from bot.suite_files import READERS, TOML, check_size, checked_name, read_file, suite_document
from bot.terminal import HERE, TerminalChat, dressed
from bot.wiring import Wishes, opened_desk
from council.bakeoffs.models import Suite
from council.bakeoffs.ports import SuiteLine
from council.errors import SuiteError


async def list_suites(*, as_json: bool) -> None:
    """Print the house's suites, or their JSON."""
    async with opened_desk(load_settings(), Wishes()) as desk:
        lines = await desk.bench.suites.lines("")
    if as_json:
        say_json([_line(line) for line in lines])
    else:
        _print(list_post(lines, ""))


async def show_suite(name: str, *, as_json: bool) -> None:
    """Print a suite, or its JSON with every question."""
    async with opened_desk(load_settings(), Wishes()) as desk:
        suite = await desk.bench.suites.load("", name.lower())
        run = await run_of(desk, HERE, suite)
    if as_json:
        say_json({**suite_document(suite), **_cost(run)})
    else:
        _print(suite_post(suite, run))


async def add_suite(name: str, source: str, *, yes: bool, as_json: bool) -> None:
    """Keep a suite once its size and cost were seen; asked about unless `yes`, or for JSON."""
    checked = checked_name(name)
    async with opened_desk(load_settings(), Wishes()) as desk:
        said = Said("", YOU, HERE, desk.new_id())
        suite, before = await draft(desk, said, await _made(desk, said, checked, source))
        run = await run_of(desk, HERE, suite)
        is_new = before is None or before.version != suite.version
        if not (yes or as_json):
            _check_wanted(suite, run, before)
        if is_new:
            await desk.bench.suites.keep(suite, YOU.id, desk.now())
    if as_json:
        say_json({**suite_document(suite), **_cost(run), "new": is_new})
    else:
        _print(kept_post(suite, run))


async def remove_suite(name: str, *, as_json: bool) -> None:
    """Remove a suite of the house."""
    async with opened_desk(load_settings(), Wishes()) as desk:
        said = Said("", YOU, HERE, desk.new_id())
        await remove(desk, TerminalChat(Console(quiet=as_json, highlight=False)), said, name)
    if as_json:
        say_json({"removed": name.lower()})


async def _made(desk: Desk, said: Said, name: str, source: str) -> Suite:
    """Give the suite of a file, or the one that a round's question joins."""
    if _is_file(Path(source)):
        return _read(name, Path(source))
    return await grown(desk, said, name, source)


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


def _check_wanted(suite: Suite, run: Run | None, before: SuiteLine | None) -> None:
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


def _line(line: SuiteLine) -> dict[str, Any]:
    return {
        "name": line.name,
        "questions": line.questions,
        "graded": line.graded,
        "version": line.version,
        "kept_at": line.kept_at.isoformat(),
    }


def _cost(run: Run | None) -> dict[str, Any]:
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
