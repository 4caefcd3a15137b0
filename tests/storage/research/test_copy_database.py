"""With every package, every table is copied to another database."""

from sqlalchemy import inspect
from sqlalchemy.ext.asyncio import AsyncEngine

from storage.copy_database import (
    data_tables,
)


async def test_every_table_is_copied(server_engine: AsyncEngine) -> None:
    async with server_engine.connect() as connection:
        there = await connection.run_sync(lambda own: inspect(own).get_table_names())

    left_out = {name for name in there if name not in {table.name for table in data_tables()}}
    ours = {name for name in left_out if not name.startswith("procrastinate_")}
    assert ours == {"alembic_version", "compatible"}
