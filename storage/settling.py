"""What calls cost is added once, however often a server has to be asked for it.

Whoever lost the connection while it was added cannot know whether that arrived. A key says so, the
same for every try; it is kept for longer than anybody tries.
"""

from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, literal_column
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from storage.finishing import this_try
from storage.rows import SettledRow

KEPT = timedelta(hours=1)


async def is_first(connection: AsyncConnection) -> bool:
    """Say whether this act arrives for the first time; it has then. SQLite loses no answer."""
    if connection.dialect.name == "sqlite":
        return True
    noted = insert(SettledRow).values(key=this_try().key, at=func.now())
    once: Any = noted.on_conflict_do_nothing().returning(literal_column("1"))
    return (await connection.execute(once)).first() is not None


async def forget_old(connection: AsyncConnection) -> None:
    """Delete the keys that nobody asks for any more."""
    if connection.dialect.name != "sqlite":
        old = col(SettledRow.at) < func.now() - KEPT
        await connection.execute(delete(SettledRow).where(old))
