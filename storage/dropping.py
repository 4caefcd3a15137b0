"""Every round of a workspace, deleted. Knows nothing of what the files keep of it."""

from typing import Any

from sqlalchemy import delete, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from storage.rows import RoundRow, SpendingRow


async def drop(connection: AsyncConnection, chat: str, workspace: str) -> int:
    """Delete the rounds asked there, with every row that points at one; give how many."""
    there = (col(RoundRow.chat) == chat, col(RoundRow.workspace) == workspace)
    # Money belongs to no row of a round: it stays spent, by nobody.
    dropped = col(SpendingRow.round_id).in_(select(col(RoundRow.id)).where(*there))
    await connection.execute(update(SpendingRow).where(dropped).values(asker=""))
    gone: Any = delete(RoundRow).where(*there).returning(literal_column("1"))
    return len((await connection.execute(gone)).all())
