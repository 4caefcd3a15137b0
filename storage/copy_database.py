"""Copy all rows of a database into an empty one, SQLite or Postgres, and verify checksums."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Any

from sqlalchemy import (
    Connection,
    FromClause,
    Table,
    TableClause,
    func,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import SQLModel

from council.errors import StoreError
from storage import tables
from storage.engine import read_only_engine
from storage.transactions import disable_timeouts, transaction, transient_error_message

BATCH = 500
NOTHING_COPIED = "nothing was copied"


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


async def copy_database(source: AsyncEngine, target: AsyncEngine, on_batch: OnBatch) -> None:
    """Copy every row, or none and raise StoreError; report each batch's size to `on_batch`."""
    async with transaction(read_only_engine(source)) as read, transaction(target) as write:
        await disable_timeouts(read)
        await disable_timeouts(write)
        if write.dialect.name == "postgresql":  # SQLite has one writer anyway
            names = ", ".join(f'"{table.name}"' for table in data_tables())
            await write.execute(text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))
        await _check_empty(write)
        await _check_no_unknown_rows(read, write)
        for table in data_tables():
            checksum, stored = 0, 0
            async with aclosing(_batches(read, table)) as batches:
                async for batch in batches:
                    await _write(write, table, batch)
                    checksum += sum(map(row_digest, batch))
                    on_batch(len(batch))
            async for batch in _batches(write, table):
                stored += sum(map(row_digest, batch))
            if checksum != stored:
                raise StoreError(await _describe_difference(table, read, write))
            await _advance_sequence(write, table)


async def count_contents(engine: AsyncEngine) -> Contents:
    """Return the row counts and money totals of a database."""
    async with transaction(read_only_engine(engine)) as connection:
        counts = {table.name: await _count(connection, table) for table in data_tables()}
        spending = SQLModel.metadata.tables["spending"].c
        money = (spending.reserved_micro, spending.spent_micro, spending.unknown_calls)
        sums = (func.coalesce(func.sum(column), 0) for column in money)
        row = (await connection.execute(select(*sums))).one()
    return Contents(counts, tuple(map(int, row)))


async def count_other_programs(engine: AsyncEngine) -> int:
    """Return how many other council programs are connected to a server; 0 on SQLite."""
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
    tables.import_all_tables()
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


async def _check_empty(connection: AsyncConnection) -> None:
    for table in sorted(data_tables(), key=lambda table: table.name != "round"):
        if count := await _count(connection, table):
            kind = f"{count} round{'s' * (count > 1)}" if table.name == "round" else "data"
            raise StoreError(
                f"The target database already holds {kind}, so {NOTHING_COPIED}. Name an empty one."
            )


async def _check_no_unknown_rows(read: AsyncConnection, write: AsyncConnection) -> None:
    """Raise StoreError if the source has rows of a plug-in that this program lacks."""
    # The target's schema is that of all plug-ins; other programs may have tables in the source.
    ours = await write.run_sync(_table_names)
    for name in await _list_unknown_tables(read):
        if name in ours:
            raise StoreError(
                f"Table {name!r} holds data of a plug-in that is not here, so {NOTHING_COPIED}. "
                "Install the plug-in, then copy again."
            )


async def list_unknown_tables(engine: AsyncEngine) -> list[str]:
    """Return the tables with rows that no part of this program knows, such as those of plug-ins."""
    async with transaction(read_only_engine(engine)) as connection:
        return await _list_unknown_tables(connection)


async def _list_unknown_tables(connection: AsyncConnection) -> list[str]:
    known = {*SQLModel.metadata.tables, "alembic_version"}
    names = sorted({*await connection.run_sync(_table_names)} - known)
    others = [name for name in names if not name.startswith("procrastinate_")]
    return [name for name in others if await _count(connection, TableClause(name))]


def _table_names(connection: Connection) -> list[str]:
    return inspect(connection).get_table_names()


async def _count(connection: AsyncConnection, of: FromClause) -> int:
    result = await connection.execute(select(func.count()).select_from(of))
    return int(result.scalar_one())


async def _batches(connection: AsyncConnection, table: Table) -> AsyncGenerator[list[Row], None]:
    try:
        async with connection.stream(select(table)) as result:
            async for batch in result.mappings().partitions(BATCH):
                yield [dict(row) for row in batch]
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"Table {table.name!r} holds a value that can't be read ({error}), so {NOTHING_COPIED}."
        ) from error


async def _write(connection: AsyncConnection, table: Table, batch: list[Row]) -> None:
    """Write rows; if that fails, write them one by one to name the one that cannot be stored."""
    try:
        async with connection.begin_nested():
            await connection.execute(insert(table), batch)
    except DBAPIError as error:
        if transient_error_message(error):
            raise
        if len(batch) == 1:
            raise StoreError(
                f"{describe_row(table, batch[0])} holds a value that the other database can't "
                f"store, so {NOTHING_COPIED}."
            ) from error
        for row in batch:
            await _write(connection, table, [row])


async def _describe_difference(table: Table, read: AsyncConnection, write: AsyncConnection) -> str:
    """Return a sentence that names a row whose copy differs."""
    copies: dict[str, int] = {}
    async for batch in _batches(write, table):
        copies.update((describe_row(table, row), row_digest(row)) for row in batch)
    what = f"Table {table.name!r}"
    async for batch in _batches(read, table):
        for row in batch:
            if copies.get(describe_row(table, row)) != row_digest(row):
                what = describe_row(table, row)
    return f"{what} was different after the copy, so {NOTHING_COPIED}."


async def _advance_sequence(connection: AsyncConnection, table: Table) -> None:
    """Continue a table's numbering after the last row; SQLite does so by itself."""
    column = table.autoincrement_column
    if connection.dialect.name != "postgresql" or column is None:
        return
    sequence, last = func.pg_get_serial_sequence(table.name, column.name), func.max(column)
    after = func.setval(sequence, func.coalesce(last, 1), last.is_not(None))
    await connection.execute(select(after))
