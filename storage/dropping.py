"""All that a workspace had, deleted. Knows nothing of what the files keep of it."""

from typing import Any

from sqlalchemy import delete, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.places import Place
from storage.bench_rows import BakeoffRow, ScheduleRow, SuiteRow
from storage.bodies import drop_bodies
from storage.locks import Lock, wait_in_line
from storage.rows import LinkRow, OutgoingRow, RoundRow, SpendingRow
from storage.sources import drop_sources


async def drop(connection: AsyncConnection, chat: str, workspace: str) -> int:
    """Delete the rounds asked there, with all that belongs to them; give how many.

    The workspace's chain, suites, bake-offs and schedules go too, and what was sent of any of it.
    """
    # Nobody takes up a suite or a source meanwhile that is deleted here as nobody's.
    await wait_in_line(connection, Lock.SHARED_ROWS)
    rounds, bakeoffs = (_there(table, chat, workspace) for table in (RoundRow, BakeoffRow))
    # Money belongs to no row of a round: it stays spent, by nobody.
    dropped = col(SpendingRow.round_id).in_(select(col(RoundRow.id)).where(*rounds))
    await connection.execute(update(SpendingRow).where(dropped).values(asker=""))
    sent = (
        select(col(RoundRow.id)).where(*rounds),
        select(col(BakeoffRow.id)).where(*bakeoffs),
    )
    for ids in sent:
        await connection.execute(delete(OutgoingRow).where(col(OutgoingRow.round_id).in_(ids)))
    await connection.execute(delete(BakeoffRow).where(*bakeoffs))
    # What is the house's own never leaves.
    if scope := Place(chat, workspace).scope:
        await connection.execute(delete(LinkRow).where(col(LinkRow.scope) == scope))
        await connection.execute(delete(SuiteRow).where(col(SuiteRow.scope) == scope))
        await connection.execute(delete(ScheduleRow).where(col(ScheduleRow.scope) == scope))
    await drop_bodies(connection)
    gone: Any = delete(RoundRow).where(*rounds).returning(literal_column("1"))
    count = len((await connection.execute(gone)).all())
    await drop_sources(connection)
    return count


def _there(table: type[Any], chat: str, workspace: str) -> tuple[Any, Any]:
    return col(table.chat) == chat, col(table.workspace) == workspace
