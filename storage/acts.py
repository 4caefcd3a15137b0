"""The few acts on a database that every store is made of."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import literal_column
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import SQLModel

from storage.faults import told_kindly


@asynccontextmanager
async def transaction(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Give a connection whose changes are kept together or not at all; StoreError if it fails."""
    with told_kindly():
        async with engine.begin() as connection:
            yield connection


async def insert(connection: AsyncConnection, rows: Sequence[SQLModel]) -> bool:
    """Insert rows of one table unless their keys are taken; say whether any was inserted."""
    once = insert_once(type(rows[0]), connection.dialect.name)
    inserted = await connection.execute(once, [row.model_dump() for row in rows])
    return inserted.first() is not None


def insert_once(table: type[SQLModel], dialect: str) -> Any:  # noqa: ANN401
    """Give the insert that passes over a taken key, and returns a row for each one it inserts."""
    # Row counts differ between drivers; what is returned does not.
    return insert_into(table, dialect).on_conflict_do_nothing().returning(literal_column("1"))


def insert_into(table: type[SQLModel], dialect: str) -> Any:  # noqa: ANN401
    """Give the insert that can say what to do where a key is taken."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


async def rows_of(connection: AsyncConnection, query: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Give what a query finds, a dictionary a row."""
    return [dict(row) for row in (await connection.execute(query)).mappings()]
