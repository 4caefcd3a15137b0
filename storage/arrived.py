"""Whether what is there already is what this act wrote itself, in a try that was lost.

Whoever opened a round, or claimed a message, must hear so although the first answer never came.
"""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import SQLModel

from storage.acts import rows_of
from storage.finishing import this_try


async def is_own(connection: AsyncConnection, row: SQLModel, telling: Sequence[str]) -> bool:
    """Say whether the row under this one's key is as this one in all that tells it from others."""
    if not this_try().again:
        return False
    table = SQLModel.metadata.tables[str(row.__tablename__)]
    keys = [column == getattr(row, column.name) for column in table.primary_key]
    stored = await rows_of(connection, select(*(table.c[name] for name in telling)).where(*keys))
    return any(all(found[name] == getattr(row, name) for name in telling) for found in stored)
