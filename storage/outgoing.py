"""Messages on their way out, in a SQL database."""

from datetime import datetime
from typing import Any

from sqlalchemy import literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import col

from council.outgoing import Claim
from storage.acts import insert, rows_of, transaction
from storage.finishing import finished
from storage.rows import OutgoingRow


class SqlOutgoing:
    """Messages as rows; of two that claim the same one, one has it."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @finished
    async def claim(self, key: str, round_id: str, now: datetime) -> Claim:
        """Undertake to send a message of a round, or give the claim there is already."""
        row = OutgoingRow(key=key, round_id=round_id, claimed_at=now)
        async with transaction(self._engine) as connection:
            is_new = await insert(connection, [row])
            query = select(OutgoingRow).where(col(OutgoingRow.key) == key)
            [found] = await rows_of(connection, query)
        return Claim(key, found["claimed_at"], found["message"], is_new)

    @finished
    async def take_over(self, claim: Claim, now: datetime) -> bool:
        """Take a claim from whoever let it lie; False if it was marked or taken meanwhile."""
        taken: Any = (
            update(OutgoingRow)
            .where(
                col(OutgoingRow.key) == claim.key,
                col(OutgoingRow.claimed_at) == claim.claimed_at,
                col(OutgoingRow.message).is_(None),
            )
            .values(claimed_at=now)
            .returning(literal_column("1"))
        )
        async with transaction(self._engine) as connection:
            return (await connection.execute(taken)).first() is not None

    @finished
    async def mark(self, key: str, message: str) -> None:
        """Note that a message was sent, with the id it has in its chat."""
        marked = update(OutgoingRow).where(col(OutgoingRow.key) == key).values(message=message)
        async with transaction(self._engine) as connection:
            await connection.execute(marked)

    @finished
    async def message_of(self, key: str) -> str | None:
        """Give the message that was sent under a key, None if none was."""
        query = select(col(OutgoingRow.message)).where(col(OutgoingRow.key) == key)
        async with transaction(self._engine) as connection:
            found: str | None = (await connection.execute(query)).scalar()
        return found

    @finished
    async def key_of(self, start: str, message: str) -> str | None:
        """Give the key with this start under which a message was sent, if any was."""
        query = select(col(OutgoingRow.key)).where(
            col(OutgoingRow.message) == message,
            col(OutgoingRow.key).startswith(start, autoescape=True),
        )
        async with transaction(self._engine) as connection:
            found: str | None = (await connection.execute(query)).scalar()
        return found
