"""The commands `council db upgrade` and `council db copy`."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.bootstrap import Stores, open_database, open_stores
from bot.cli.output import MISUSED, OnFault, async_command, exit_on_faults, fail, text_option
from bot.cli.progress import CountBar
from bot.cli.verify import find_faults, print_walk, walk_chain
from bot.coordination.locks import lock_file_claims
from bot.render.formatting import count_noun
from bot.settings import Settings, SettingsError, load_settings
from bot.settings.environment import with_async_driver
from council.errors import CouncilError, StoreError
from council.integrity.verification import chain_name
from council.ports import Store
from storage import copy_database
from storage.copy_database import count_contents, count_other_programs
from storage.export import ExportedRound
from storage.migrate import HEAD_REVISION

NAME_ONE = (
    "Name the database to copy into, as in: council db copy postgresql://USER:PASSWORD@HOST/NAME"
)
IN_USE = "Another program is using {}. Stop it first, so that nothing is missing from the copy."
IN_USE_CHECKS, IN_USE_CHECK_SECONDS = 5, 0.1
WRONG_BEFORE = "it was like that before, and was copied unchanged"

database_app = typer.Typer(help="Upgrade or copy the database.", no_args_is_help=True)


@database_app.command()
@async_command
async def upgrade() -> None:
    """Upgrade the database schema."""
    async with open_database(load_settings()):
        typer.echo(f"The database is at schema {HEAD_REVISION}.")


@database_app.command()
@async_command
async def copy(
    first: Annotated[
        str,
        typer.Argument(
            metavar="FROM", help="The database to copy (default: the one in the settings)."
        ),
    ] = "",
    second: Annotated[
        str, typer.Argument(metavar="TO", help="An address, or the path of an SQLite file.")
    ] = "",
    to: Annotated[str, text_option("--to", help="The same as TO.")] = "",
) -> None:
    """Copy everything into an empty database, and verify it.

    All of it is copied or nothing. Then each round is loaded from both, and verified; the chains
    are walked, and the money is added up. No program may use either meanwhile.
    """
    named = [one for one in (first, second, to) if one]
    if len(named) not in {1, 2}:
        fail(NAME_ONE, MISUSED)
    *source, target = named
    with exit_on_faults() as on_fault:
        await _copy("".join(source), target, on_fault)


async def _copy(source: str, target: str, on_fault: OnFault) -> None:
    settings = load_settings()
    old, new = _with_database(settings, source), _with_database(settings, target)
    if old.database == new.database:
        raise SettingsError(["A database cannot be copied into itself. Name another one."])
    if old.database_file and not old.database_file.exists():
        raise SettingsError([f"There is no database at {old.database_file}."])
    with _exclusive_lock(old), _exclusive_lock(new):
        await _copy_rows(old, new, on_fault)
        async with open_stores(old) as originals, open_stores(new) as copies:
            await _compare_rounds(originals, copies, on_fault)
            await _compare_chains(originals, copies, on_fault)


def _with_database(settings: Settings, database: str) -> Settings:
    """Return the settings with another database: an address, or a path; "" is the same."""
    if not database:
        return settings
    url = database if "://" in database else f"sqlite+aiosqlite:///{Path(database).absolute()}"
    try:
        return settings.model_copy(update={"database_url": with_async_driver(url)})
    except ValueError as error:
        raise SettingsError([f"The address of a database is wrong: {error}."]) from None


@contextmanager
def _exclusive_lock(settings: Settings) -> Iterator[None]:
    """Keep other programs from using an SQLite file until the block ends."""
    file = settings.database_file
    if file is None or not file.parent.exists():
        yield
        return
    claims = lock_file_claims(file)
    try:
        if not claims.take_all():
            raise StoreError(IN_USE.format(file))
        yield
    finally:
        claims.close()


async def _copy_rows(old: Settings, new: Settings, on_fault: OnFault) -> None:
    """Copy all rows, and compare how many each table has, and what was spent."""
    async with open_database(old) as source, open_database(new) as target:
        for engine, settings in ((source, old), (target, new)):
            await _check_unused(engine, settings)
        before = await count_contents(source)
        with _progress_bar("copied", before.total) as bar:
            await copy_database.copy_database(source, target, bar.advance)
        before, after = await count_contents(source), await count_contents(target)
    tables = count_noun(sum(map(bool, before.rows.values())), "table")
    typer.echo(f"{count_noun(before.total, 'row')} of {tables} copied into {_display_name(new)}.")
    differing = [name for name in before.rows if before.rows[name] != after.rows[name]]
    if before.money != after.money:
        differing.append("spending")
    for name in dict.fromkeys(differing):
        on_fault(f"Table {name!r} differs from the original. Copy again, into a new database.")


async def _check_unused(engine: AsyncEngine, settings: Settings) -> None:
    for _ in range(IN_USE_CHECKS):
        if not await count_other_programs(engine):
            return
        # The server drops the connection of a program that has just ended a moment later.
        await asyncio.sleep(IN_USE_CHECK_SECONDS)
    raise StoreError(IN_USE.format(_display_name(settings)))


def _display_name(settings: Settings) -> str:
    """Name a database without the user and host of its address."""
    return str(settings.database_file or "the server's database")


def _progress_bar(title: str, total: int) -> CountBar:
    return CountBar(Console(stderr=True, highlight=False), title, total)


async def _compare_rounds(originals: Stores, copies: Stores, on_fault: OnFault) -> None:
    ids, good = await originals.store.ids(), 0
    with _progress_bar("checked", len(ids)) as bar:
        for round_id in ids:
            before = await _load_round(originals.store, round_id)
            after = await _load_round(copies.store, round_id)
            if before != after:
                on_fault(
                    f"Round {round_id} differs from the original. Copy again, into a new database."
                )
            elif faults := [after] if isinstance(after, str) else find_faults(after):
                on_fault(f"Round {round_id}: {'; '.join(faults)}; {WRONG_BEFORE}.")
            else:
                good += 1
            bar.advance(1)
    typer.echo(f"{good} of {count_noun(len(ids), 'round')} equal in both, and verified.")


async def _load_round(store: Store, round_id: str) -> ExportedRound | str:
    try:
        return ExportedRound(await store.load(round_id), seal=await store.seal(round_id))
    except CouncilError as error:
        return str(error).rstrip(".")


async def _compare_chains(originals: Stores, copies: Stores, on_fault: OnFault) -> None:
    heads = await copies.chain.heads()
    if heads != await originals.chain.heads():
        on_fault("The hash chains end differently. Copy again, into a new database.")
    for head in heads:
        walk = await walk_chain(copies.chain, head)
        print_walk(walk, on_fault)
        if walk.findings:
            typer.echo(f"{chain_name(head.scope)}: {WRONG_BEFORE}.")
