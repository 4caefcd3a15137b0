"""The database's clock, which all processes on it share."""

from datetime import UTC, datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from storage.acts import transaction
from storage.finishing import finished


class SqlClock:
    """Tells the time of the server."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @finished
    async def moment(self) -> datetime:
        """Give the moment it is there; StoreError where it cannot be asked."""
        async with transaction(self._engine) as connection:
            found: datetime = (
                await connection.execute(text("SELECT clock_timestamp()"))
            ).scalar_one()
        return found.astimezone(UTC)
