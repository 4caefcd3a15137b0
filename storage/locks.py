"""What is done by one program at a time on a server. SQLite has one writer anyway."""

from enum import IntEnum

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection


class Lock(IntEnum):
    """What is waited for; any numbers, as long as every program locks the same."""

    REBUILDING = 20_261_121
    RESERVING = 20_261_122
    SUITES = 20_261_123
    SHARED_ROWS = 20_261_124
    LINKS = 20_261_125


async def wait_in_line(connection: AsyncConnection, lock: Lock) -> None:
    """Have this to oneself to the end of the transaction."""
    if connection.dialect.name == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock(int(lock))))


async def wait_for_those_alone(connection: AsyncConnection, lock: Lock) -> None:
    """Share this with others like us, to the end of the transaction, but with nobody in line."""
    if connection.dialect.name == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock_shared(int(lock))))


async def take_time(connection: AsyncConnection) -> None:
    """Let what this transaction does, and waits for, take as long as it takes."""
    if connection.dialect.name == "postgresql":
        for limit in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            await connection.execute(text(f"SET LOCAL {limit} = 0"))
