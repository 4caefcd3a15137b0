"""What happens to rows of bake-offs, suites and records when rounds are deleted."""

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.places import Place
from storage.bakeoffs.bakeoffs import delete_unused_bodies
from storage.bakeoffs.records import delete_unused_sources
from storage.bakeoffs.tables import BakeoffRow, ScheduleRow, SuiteRow
from storage.hooks import RoundHooks
from storage.tables import OutgoingRow


class BakeoffHooks(RoundHooks):
    """Deletes the bake-offs, suites and schedules of a workspace, and what nothing uses any more.

    Records are numbers without texts, and stay until their rounds are deleted.
    """

    async def delete_workspace(
        self, connection: AsyncConnection, chat: str, workspace: str
    ) -> None:
        """Delete a workspace's bake-offs, what is still to be sent of them, suites and schedules.

        The scope "" is shared by all workspaces and remains.
        """
        own = (col(BakeoffRow.chat) == chat, col(BakeoffRow.workspace) == workspace)
        sent = col(OutgoingRow.round_id).in_(select(col(BakeoffRow.id)).where(*own))
        await connection.execute(delete(OutgoingRow).where(sent))
        await connection.execute(delete(BakeoffRow).where(*own))
        if scope := Place(chat, workspace).scope:
            for owned in (SuiteRow, ScheduleRow):
                await connection.execute(delete(owned).where(col(owned.scope) == scope))
        await delete_unused_bodies(connection)

    async def delete_unused(self, connection: AsyncConnection) -> None:
        """Delete the sources of records that no record has any more."""
        await delete_unused_sources(connection)
