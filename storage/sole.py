"""Being the one process, of all that share a database server, that does something."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from storage.faults import told_kindly


class SqlSole:
    """Locks of the server's own: one is free again as soon as its holder is gone."""

    def __init__(self, engine: AsyncEngine) -> None:
        # Nothing else may be in a transaction for as long as the lock is held.
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")

    @asynccontextmanager
    async def __call__(self, name: str) -> AsyncIterator[bool]:
        """Keep every other process from what goes by a name; False where one of them has it."""
        key = func.hashtextextended(f"sole {name}", 0)
        with told_kindly():
            connection = await self._engine.connect()
        try:
            with told_kindly():
                is_ours = await _is(connection, func.pg_try_advisory_lock(key))
            try:
                yield is_ours
            finally:
                if is_ours:
                    await _freed(connection, key)
        finally:
            await connection.close()


async def _freed(connection: AsyncConnection, key: Any) -> None:  # noqa: ANN401
    """Let go of a lock; a connection that is lost has let go of it."""
    with suppress(DBAPIError):
        if await _is(connection, func.pg_advisory_unlock(key)):
            return
    await connection.invalidate()


async def _is(connection: AsyncConnection, asked: Any) -> bool:  # noqa: ANN401
    return bool((await connection.execute(select(asked))).scalar())
