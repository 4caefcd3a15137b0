"""A copy of a database held against the one it was made from, round by round."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.bootstrap import Stores, opened_books, opened_engine
from bot.cli.output import FAILED, MISUSED, fail, run
from bot.cli.verify import said, walked
from bot.render.formatting import counted
from bot.runners.local import FileClaims
from bot.settings import Settings, SettingsError, load_settings
from bot.settings.environment import driven
from council.errors import CouncilError, StoreError
from council.integrity.seal import Seal, changes
from council.integrity.verification import chain_name, verify
from council.ports import Store
from council.rounds import Round
from storage.copy_database import Contents, contents, others
from storage.copy_database import copy as _copying_copy

database_app = typer.Typer(help="Look after the database.", no_args_is_help=True)

# --- A copy of a database held against the one it was made from, round by round.

Tell = Callable[[str], None]

AS_BEFORE = "it was so before, and was copied as it is"


@dataclass(frozen=True, slots=True)
class Found:
    """A round with what was noted of it, or why there is none that can be read."""

    round_: Round | None = None
    seal: Seal | None = None
    why: str = ""


async def check_copy(was: Stores, is_: Stores, tell: Tell, told: Callable[[int], None]) -> None:
    """Load each round from both, verify it, and walk the chains; `tell` hears of what is wrong."""
    good = total = 0
    for round_id in await was.store.ids():
        total += 1
        good += await _is_good(was.store, is_.store, round_id, tell)
        told(1)
    typer.echo(
        f"{good} of {counted(total, 'round')} equal in both, and as recomputed."
        if good < total
        else f"{counted(total, 'round')}: each is equal in both, and as recomputed."
    )
    await _check_chains(was, is_, tell)


async def _is_good(was: Store, is_: Store, round_id: str, tell: Tell) -> bool:
    before, after = await _found(was, round_id), await _found(is_, round_id)
    if before != after:
        typer.echo(f"Round {round_id} is not as it was: copy into a new database again.")
    elif faults := _faults(after):
        typer.echo(f"Round {round_id}: {faults}; {AS_BEFORE}.")
    else:
        return True
    tell(round_id)
    return False


async def _found(store: Store, round_id: str) -> Found:
    try:
        return Found(await store.load(round_id), await store.seal(round_id))
    except CouncilError as error:
        return Found(why=str(error).rstrip("."))


def _faults(found: Found) -> str:
    """Say what is wrong with a round itself; nothing where nothing is."""
    if found.round_ is None:
        return found.why
    changed = changes(found.round_, found.seal) if found.seal else ()
    return "; ".join(
        (
            *(f"differs in {difference}" for difference in verify(found.round_)),
            *(f"is not as it closed: {change}" for change in changed),
        )
    )


async def _check_chains(was: Stores, is_: Stores, tell: Tell) -> None:
    """Walk every chain of the copy, which must have the heads that there were."""
    heads = await is_.chain.heads()
    if heads != await was.chain.heads():
        typer.echo("The chains do not end as they did: copy into a new database again.")
        tell("heads")
    for head in heads:
        walk = await walked(is_.chain, head, frozenset())
        said(walk, tell)
        if walk.findings:
            typer.echo(f"So was {chain_name(head.scope)} before, and it was copied as it is.")


# --- Everything stored, copied from one database into another, and held against it.

Report = Callable[[str], None]

SERVED = "A program uses {} now: stop it first, so that nothing is missing from the copy."
LOOKS, PAUSE_SECONDS = 5, 0.1


async def copy_database(source: str, target: str, tell: Report) -> None:
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
            await _copying_copy(source, target, told)
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


async def _check_sums(old: Settings, new: Settings, tell: Report) -> None:
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


# --- The commands that look after the database.

NAME_ONE = (
    "Name the database to copy into, as in: council db copy postgresql://USER:PASSWORD@HOST/NAME"
)


@database_app.command()
def upgrade() -> None:
    """Bring the database's schema up to date."""
    from bot.cli.rounds import upgrade_schema

    run(upgrade_schema())


@database_app.command()
def copy(
    first: Annotated[
        str, typer.Argument(metavar="FROM", help="Without it: the one of the settings.")
    ] = "",
    second: Annotated[
        str, typer.Argument(metavar="TO", help="An address, or the path of an SQLite file.")
    ] = "",
    to: Annotated[str, typer.Option("--to", help="The same as TO.", show_default=False)] = "",
) -> None:
    """Copy everything into an empty database, from SQLite to Postgres or back, and check it.

    All of it is copied or nothing. Then each round is loaded from both, and verified; the chains
    are walked, and the money is added up. No program may use either meanwhile.
    """
    named = [one for one in (first, second, to) if one]
    if len(named) not in {1, 2}:
        fail(NAME_ONE, MISUSED)
    *source, target = named

    wrong: list[str] = []
    run(copy_database("".join(source), target, wrong.append))
    if wrong:
        raise typer.Exit(FAILED)
