"""Rows of any table held against each other, whichever database gave them."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Any

from sqlalchemy import Table, func, insert, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import SQLModel

from council.errors import StoreError
from storage import bakeoff_tables as bench_rows
from storage import bakeoff_tables as experiment_rows
from storage import bakeoff_tables as shared_rows
from storage import tables as rows
from storage.engine import for_reading
from storage.transactions import lost, take_time, transaction

# --- Rows of any table held against each other, whichever database gave them.

_BITS = 256


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum over the digests of rows: the same for the same rows, in whatever order they come."""

    digests: int = 0
    count: int = 0

    def with_(self, rows: Sequence[dict[str, Any]]) -> "Sum":
        """Give the sum with more rows."""
        digests = self.digests + sum(map(digest_of, rows))
        return Sum(digests % 2**_BITS, self.count + len(rows))


def digest_of(row: dict[str, Any]) -> int:
    """Give a number for what a row holds; 1 and 1.0 are the same, as they are to a database."""
    said = json.dumps(_plain(row), sort_keys=True)
    return int.from_bytes(sha256(said.encode()).digest())


def key_of(table: Table, row: dict[str, Any]) -> str:
    """Name a row by its table and key."""
    key = ", ".join(f"{column.name} {row[column.name]!r}" for column in table.primary_key)
    return f"The row of table {table.name!r} with {key}"


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    return value


# --- Everything a database holds, copied into an empty one, whichever they are: all of it or noth

BATCH = 500
OWN = (rows, bench_rows, experiment_rows, shared_rows)  # whose tables there are
NOTHING = "nothing was copied"

_SPENDING = rows.SpendingRow.metadata.tables["spending"].c
_MONEY = ("reserved_micro", "spent_micro", "unknown_calls")

Told = Callable[[int], None]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Contents:
    """How many rows each table holds, and what all rounds reserved and spent, in micro-dollars."""

    rows: Mapping[str, int]
    money: tuple[int, ...]

    @property
    def total(self) -> int:
        """The number of all rows."""
        return sum(self.rows.values())


def tables() -> list[Table]:
    """Give every table, each after those it points at; not what a database says of itself."""
    own = str(rows.CompatibleRow.__tablename__)
    return [table for table in SQLModel.metadata.sorted_tables if table.name != own]


async def contents(engine: AsyncEngine) -> Contents:
    """Give what a database holds, in numbers."""
    async with transaction(for_reading(engine)) as connection:
        counted = {table.name: await _count(connection, table) for table in tables()}
        sums = (func.coalesce(func.sum(_SPENDING[name]), 0) for name in _MONEY)
        found = (await connection.execute(select(*sums))).one()
    return Contents(counted, tuple(map(int, found)))


async def others(engine: AsyncEngine) -> int:
    """Give how many other programs of ours are connected to a server's database now.

    The engine has one connection at most, which is none of the others.
    """
    if engine.dialect.name == "sqlite":
        return 0
    query = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name = 'council' AND pid <> pg_backend_pid()"
    )
    async with transaction(for_reading(engine)) as connection:
        return int((await connection.execute(query)).scalar_one())


async def copy(source: AsyncEngine, target: AsyncEngine, told: Told) -> None:
    """Copy every row; `told` hears of each batch. StoreError where that holds anything already."""
    async with transaction(for_reading(source)) as read, transaction(target) as write:
        await take_time(read)
        await take_time(write)
        await _have_alone(write)
        await _check_empty(write)
        for table in tables():
            copied = await _copied(table, read, write, told)
            if copied != await _sum(write, table):
                raise StoreError(await _differing(table, read, write))
            await _count_on(write, table)


async def _have_alone(connection: AsyncConnection) -> None:
    """Let nobody else write as long as this takes; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        names = ", ".join(f'"{table.name}"' for table in tables())
        await connection.execute(text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))


async def _check_empty(connection: AsyncConnection) -> None:
    for table in sorted(tables(), key=lambda table: table.name != "round"):
        if count := await _count(connection, table):
            held = f"{count} round{'s' * (count > 1)}" if table.name == "round" else "data"
            raise StoreError(
                f"The database to copy into holds {held} already, so {NOTHING}: name an empty one."
            )


async def _count(connection: AsyncConnection, table: Table) -> int:
    found = await connection.execute(select(func.count()).select_from(table))
    return int(found.scalar_one())


async def _copied(table: Table, read: AsyncConnection, write: AsyncConnection, told: Told) -> Sum:
    """Copy a table; give the sum of what it holds."""
    total = Sum()

    async def keep(batch: list[Row]) -> None:
        nonlocal total
        await _write(write, table, batch)
        total = total.with_(batch)
        told(len(batch))

    await _walk(read, table, keep)
    return total


async def _sum(connection: AsyncConnection, table: Table) -> Sum:
    total = Sum()

    async def add(batch: list[Row]) -> None:
        nonlocal total
        total = total.with_(batch)

    await _walk(connection, table, add)
    return total


async def _walk(
    connection: AsyncConnection, table: Table, act: Callable[[list[Row]], Awaitable[None]]
) -> None:
    """Hand every row of a table on, a batch at a time."""
    try:
        async with connection.stream(select(table)) as result:
            async for some in result.mappings().partitions(BATCH):
                await act([dict(row) for row in some])
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"Table {table.name!r} holds a value that cannot be read ({error}), so {NOTHING}."
        ) from error


async def _write(connection: AsyncConnection, table: Table, batch: list[Row]) -> None:
    try:
        async with connection.begin_nested():
            await connection.execute(insert(table), batch)
    except DBAPIError as error:
        if lost(error):
            raise
        await _write_each(connection, table, batch)


async def _write_each(connection: AsyncConnection, table: Table, batch: list[Row]) -> None:
    """Write rows one by one, so that one that cannot be kept is named."""
    for row in batch:
        try:
            async with connection.begin_nested():
                await connection.execute(insert(table), row)
        except DBAPIError as error:
            if lost(error):
                raise
            raise StoreError(
                f"{key_of(table, row)} holds what the other database cannot keep, so {NOTHING}."
            ) from error


async def _differing(table: Table, read: AsyncConnection, write: AsyncConnection) -> str:
    """Name a row that came back otherwise than it was."""
    there: dict[str, int] = {}
    differing: list[str] = []

    async def note(batch: list[Row]) -> None:
        there.update((key_of(table, row), digest_of(row)) for row in batch)

    async def compare(batch: list[Row]) -> None:
        keys = ((key_of(table, row), digest_of(row)) for row in batch)
        differing.extend(key for key, digest in keys if there.get(key) != digest)

    await _walk(write, table, note)
    await _walk(read, table, compare)
    what = differing[0] if differing else f"Table {table.name!r}"
    return f"{what} came back otherwise than it was, so {NOTHING}."


async def _count_on(connection: AsyncConnection, table: Table) -> None:
    """Have a table that numbers its rows go on after the last one; SQLite does by itself."""
    column = table.autoincrement_column
    if connection.dialect.name != "postgresql" or column is None:
        return
    sequence, last = func.pg_get_serial_sequence(table.name, column.name), func.max(column)
    after = func.setval(sequence, func.coalesce(last, 1), last.is_not(None))
    await connection.execute(select(after))
