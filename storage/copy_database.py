"""Copy all rows of a database into an empty one, SQLite or Postgres, and verify checksums."""

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
from storage import (
    bakeoff_tables,  # noqa: F401 - so that its tables are registered
    tables,
)
from storage.engine import read_only_engine
from storage.transactions import disable_timeouts, transaction, transient_error_message

BATCH = 500
NOTHING_COPIED = "nothing was copied"

_SPENDING = SQLModel.metadata.tables["spending"].c
_MONEY = ("reserved_micro", "spent_micro", "unknown_calls")
_BITS = 256

OnBatch = Callable[[int], None]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Contents:
    """The number of rows of each table, and the totals of the spending table in micro-dollars."""

    rows: Mapping[str, int]
    money: tuple[int, ...]

    @property
    def total(self) -> int:
        """The number of all rows."""
        return sum(self.rows.values())


@dataclass(frozen=True, slots=True)
class Checksum:
    """The sum of the digests of rows: the same for the same rows in any order."""

    digests: int = 0
    count: int = 0

    def with_(self, rows: Sequence[Row]) -> "Checksum":
        """Return the checksum with more rows."""
        digests = self.digests + sum(map(row_digest, rows))
        return Checksum(digests % 2**_BITS, self.count + len(rows))


async def copy_database(source: AsyncEngine, target: AsyncEngine, on_batch: OnBatch) -> None:
    """Copy every row in one transaction; report the size of each batch to `on_batch`.

    Raise StoreError, and copy nothing, if the target is not empty or a row cannot be stored there
    unchanged.
    """
    async with transaction(read_only_engine(source)) as read, transaction(target) as write:
        await disable_timeouts(read)
        await disable_timeouts(write)
        await _lock_tables(write)
        await _check_empty(write)
        for table in data_tables():
            copied = await _copy_table(table, read, write, on_batch)
            if copied != await _checksum(write, table):
                raise StoreError(await _describe_difference(table, read, write))
            await _advance_sequence(write, table)


async def count_contents(engine: AsyncEngine) -> Contents:
    """Return the row counts and money totals of a database."""
    async with transaction(read_only_engine(engine)) as connection:
        counts = {table.name: await _count(connection, table) for table in data_tables()}
        sums = (func.coalesce(func.sum(_SPENDING[name]), 0) for name in _MONEY)
        row = (await connection.execute(select(*sums))).one()
    return Contents(counts, tuple(map(int, row)))


async def count_other_programs(engine: AsyncEngine) -> int:
    """Return how many other council programs are connected to a server's database; 0 on SQLite.

    The engine may have one connection only, which is not counted.
    """
    if engine.dialect.name == "sqlite":
        return 0
    query = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name = 'council' AND pid <> pg_backend_pid()"
    )
    async with transaction(read_only_engine(engine)) as connection:
        return int((await connection.execute(query)).scalar_one())


def data_tables() -> list[Table]:
    """Return every table after those it refers to, except the one with the schema's version."""
    own = str(tables.CompatibleRow.__tablename__)
    return [table for table in SQLModel.metadata.sorted_tables if table.name != own]


def row_digest(row: dict[str, Any]) -> int:
    """Return a digest of a row's values; 1 and 1.0 are equal, as they are to a database."""
    document = json.dumps(_plain(row), sort_keys=True)
    return int.from_bytes(sha256(document.encode()).digest())


def describe_row(table: Table, row: dict[str, Any]) -> str:
    """Return the start of a sentence that names a row by its table and key."""
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
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    return value


async def _lock_tables(connection: AsyncConnection) -> None:
    """Keep other writers out until the transaction ends; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        names = ", ".join(f'"{table.name}"' for table in data_tables())
        await connection.execute(text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))


async def _check_empty(connection: AsyncConnection) -> None:
    for table in sorted(data_tables(), key=lambda table: table.name != "round"):
        if count := await _count(connection, table):
            kind = f"{count} round{'s' * (count > 1)}" if table.name == "round" else "data"
            raise StoreError(
                f"The database to copy into holds {kind} already, so {NOTHING_COPIED}: "
                "name an empty one."
            )


async def _count(connection: AsyncConnection, table: Table) -> int:
    result = await connection.execute(select(func.count()).select_from(table))
    return int(result.scalar_one())


async def _copy_table(
    table: Table, read: AsyncConnection, write: AsyncConnection, on_batch: OnBatch
) -> Checksum:
    """Copy a table; return the checksum of its rows."""
    total = Checksum()

    async def store(batch: list[Row]) -> None:
        nonlocal total
        await _write(write, table, batch)
        total = total.with_(batch)
        on_batch(len(batch))

    await _for_each_batch(read, table, store)
    return total


async def _checksum(connection: AsyncConnection, table: Table) -> Checksum:
    total = Checksum()

    async def add(batch: list[Row]) -> None:
        nonlocal total
        total = total.with_(batch)

    await _for_each_batch(connection, table, add)
    return total


async def _for_each_batch(
    connection: AsyncConnection, table: Table, act: Callable[[list[Row]], Awaitable[None]]
) -> None:
    """Call `act` with every row of a table, one batch at a time."""
    try:
        async with connection.stream(select(table)) as result:
            async for batch in result.mappings().partitions(BATCH):
                await act([dict(row) for row in batch])
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"Table {table.name!r} holds a value that cannot be read ({error}), "
            f"so {NOTHING_COPIED}."
        ) from error


async def _write(connection: AsyncConnection, table: Table, batch: list[Row]) -> None:
    try:
        async with connection.begin_nested():
            await connection.execute(insert(table), batch)
    except DBAPIError as error:
        if transient_error_message(error):
            raise
        await _write_each(connection, table, batch)


async def _write_each(connection: AsyncConnection, table: Table, batch: list[Row]) -> None:
    """Write rows one by one, to name the row that cannot be stored."""
    for row in batch:
        try:
            async with connection.begin_nested():
                await connection.execute(insert(table), row)
        except DBAPIError as error:
            if transient_error_message(error):
                raise
            raise StoreError(
                f"{describe_row(table, row)} holds what the other database cannot keep, "
                f"so {NOTHING_COPIED}."
            ) from error


async def _describe_difference(table: Table, read: AsyncConnection, write: AsyncConnection) -> str:
    """Return a sentence that names a row whose copy differs."""
    copies: dict[str, int] = {}
    differing: list[str] = []

    async def note(batch: list[Row]) -> None:
        copies.update((describe_row(table, row), row_digest(row)) for row in batch)

    async def compare(batch: list[Row]) -> None:
        keys = ((describe_row(table, row), row_digest(row)) for row in batch)
        differing.extend(key for key, digest in keys if copies.get(key) != digest)

    await _for_each_batch(write, table, note)
    await _for_each_batch(read, table, compare)
    what = differing[0] if differing else f"Table {table.name!r}"
    return f"{what} came back otherwise than it was, so {NOTHING_COPIED}."


async def _advance_sequence(connection: AsyncConnection, table: Table) -> None:
    """Continue a table's numbering after the last row; SQLite does so by itself."""
    column = table.autoincrement_column
    if connection.dialect.name != "postgresql" or column is None:
        return
    sequence, last = func.pg_get_serial_sequence(table.name, column.name), func.max(column)
    after = func.setval(sequence, func.coalesce(last, 1), last.is_not(None))
    await connection.execute(select(after))
