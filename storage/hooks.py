"""Hooks of plug-ins on stored rounds, which run in the transaction that changes the rounds."""

from sqlalchemy.ext.asyncio import AsyncConnection


class RoundHooks:
    """What a plug-in does to its own rows when rounds are deleted; each method may be left out.

    An exception undoes the whole transaction, the deletion of the rounds included.
    """

    async def forget(self, connection: AsyncConnection, round_id: str) -> None:
        """Delete what is stored of a round's texts."""

    async def delete_workspace(
        self, connection: AsyncConnection, chat: str, workspace: str
    ) -> None:
        """Delete what a workspace leaves, before its rounds are deleted."""

    async def delete_unused(self, connection: AsyncConnection) -> None:
        """Delete what no stored round needs any more, after rounds were deleted."""
