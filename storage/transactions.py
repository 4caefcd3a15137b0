"""Transactions, and the one insert that all of them use. Knows no table."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import literal_column
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import SQLModel

from storage.faults import told_kindly


@asynccontextmanager
async def transaction(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Give a connection in a transaction; what the database complains of is a StoreError."""
    with told_kindly():
        async with engine.begin() as connection:
            yield connection


def insert_once(table: type[SQLModel], dialect: str) -> Any:  # noqa: ANN401
    """Give the insert that passes over a taken key, and returns a row for each one it inserts."""
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    # Row counts differ between drivers; what is returned does not.
    return insert.on_conflict_do_nothing().returning(literal_column("1"))
