"""Everything stored, copied from one database into another, and held against it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.books import opened_books, opened_engine
from bot.cli.copy_checks import check_copy
from bot.render.formatting import counted
from bot.runners.local import FileClaims
from bot.settings import Settings, SettingsError, load_settings
from bot.settings.environment import driven
from council.errors import StoreError
from storage.copy_database import Contents, contents, copy, others

Tell = Callable[[str], None]

SERVED = "A program uses {} now: stop it first, so that nothing is missing from the copy."
LOOKS, PAUSE_SECONDS = 5, 0.1


async def copy_database(source: str, target: str, tell: Tell) -> None:
    """Copy one database into another and check the copy; `tell` hears of each thing not right."""
    settings = load_settings()
    old, new = _meaning(settings, source), _meaning(settings, target)
    if old.database == new.database:
        raise SettingsError(["A database cannot be copied into itself: name another one."])
    if old.database_file and not old.database_file.exists():
        raise SettingsError([f"There is no database {old.database_file} to copy from."])
    with _alone(old), _alone(new):
        before = await _copied(old, new)
        async with opened_books(old) as was, opened_books(new) as is_:
            with _bar("checked", before.rows["round"]) as told:
                await check_copy(was, is_, tell, told)
        await _check_sums(old, new, tell)


async def _copied(old: Settings, new: Settings) -> Contents:
    """Copy all there is; give what it was."""
    async with opened_engine(old) as source, opened_engine(new) as target:
        for engine, settings in ((source, old), (target, new)):
            await _check_alone(engine, settings)
        before = await contents(source)
        with _bar("copied", before.total) as told:
            await copy(source, target, told)
    tables = counted(sum(map(bool, before.rows.values())), "table")
    typer.echo(f"{counted(before.total, 'row')} of {tables} copied into {_name(new)}.")
    return before


async def _check_alone(engine: AsyncEngine, settings: Settings) -> None:
    """Raise StoreError while a program of ours is connected to a server's database."""
    for _ in range(LOOKS):
        if not await others(engine):
            return
        await asyncio.sleep(PAUSE_SECONDS)  # one that has just ended is let go of in a moment
    raise StoreError(SERVED.format(_name(settings)))


async def _check_sums(old: Settings, new: Settings, tell: Tell) -> None:
    """Hold the numbers of rows, and the money, against each other once all is kept."""
    async with opened_engine(old) as source, opened_engine(new) as target:
        was, is_ = await contents(source), await contents(target)
    if was == is_:
        typer.echo("Every table has as many rows in both, and the same money is spent.")
        return
    differing = [name for name in was.rows if was.rows[name] != is_.rows[name]]
    for name in differing or ["spending"]:
        tell(name)
        typer.echo(f"Table {name!r} is not as it was: copy into a new database again.")


def _meaning(settings: Settings, named: str) -> Settings:
    """Give the settings with the database that is named: an address, or a file's path."""
    if not named:
        return settings
    url = named if "://" in named else f"sqlite+aiosqlite:///{Path(named).absolute()}"
    try:
        return settings.model_copy(update={"database_url": driven(url)})
    except ValueError as error:
        raise SettingsError([f"The address of a database is wrong: {error}."]) from None


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    """Keep every other program off a file, as long as the block lasts."""
    file = settings.database_file
    if file is None or not file.parent.exists():
        yield
        return
    claims = FileClaims(file.with_name(f"{file.name}.lock"))
    try:
        if not claims.take_all():
            raise StoreError(SERVED.format(file))
        yield
    finally:
        claims.close()


def _name(settings: Settings) -> str:
    """Name a database without what its address says of people."""
    return str(settings.database_file or "the server's database")


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal; give what moves it on."""
    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        task = bars.add_task(what, total=total)
        yield lambda done: bars.advance(task, done)
