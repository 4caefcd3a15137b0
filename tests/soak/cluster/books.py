"""Queries on the database of a cluster, without the program."""

import asyncio
from typing import Any, LiteralString

import psycopg

_PAUSE_SECONDS = 0.2
UNTOLD: LiteralString = "SELECT count(*) FROM round WHERE NOT delivered"


class Books:
    """Reads one database; it may be away now and then."""

    def __init__(self, url: str) -> None:
        self._url = url.replace("postgresql+psycopg://", "postgresql://")

    def rows(self, statement: LiteralString) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        with psycopg.connect(self._url, connect_timeout=5) as connection:
            return connection.execute(statement).fetchall()

    async def come_to(self, statement: LiteralString, wanted: int, seconds: float) -> bool:
        """Wait until a count is what is wanted; give False where it never is."""
        try:
            async with asyncio.timeout(seconds):
                while await self._count(statement) != wanted:  # noqa: ASYNC110 - others write it
                    await asyncio.sleep(_PAUSE_SECONDS)
        except TimeoutError:
            return False
        return True

    async def _count(self, statement: LiteralString) -> int | None:
        try:
            [(count,)] = await asyncio.to_thread(self.rows, statement)
        except psycopg.OperationalError:
            return None
        return int(count)
