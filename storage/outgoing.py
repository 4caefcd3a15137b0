"""Messages on their way out, in a SQL database."""

from datetime import datetime
from typing import Any

from sqlalchemy import func, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import col

from council.outgoing import Claim
from storage.acts import insert, rows_of, transaction
from storage.arrived import is_own
from storage.finishing import finished
from storage.ordering import by_letter
from storage.rows import OutgoingRow

OURS = ("claimed_at", "message")  # no two claim at the same microsecond


class SqlOutgoing:
    """Messages as rows; of two that claim the same one, one has it."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @finished
    async def claim(self, key: str, round_id: str, now: datetime) -> Claim:
        """Undertake to send a message of a round, or give the claim there is already."""
        row = OutgoingRow(key=key, round_id=round_id, claimed_at=now)
        async with transaction(self._engine) as connection:
            is_new = await insert(connection, [row]) or await is_own(connection, row, OURS)
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
        row = OutgoingRow(key=claim.key, round_id="", claimed_at=now)
        async with transaction(self._engine) as connection:
            is_taken = (await connection.execute(taken)).first() is not None
            return is_taken or await is_own(connection, row, OURS)

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
        key = col(OutgoingRow.key)
        # LIKE would take capitals for small letters on SQLite, and on Postgres not.
        begins = func.substr(key, 1, len(start)) == start
        query = select(key).where(col(OutgoingRow.message) == message, begins)
        query = query.order_by(by_letter(key)).limit(1)
        async with transaction(self._engine) as connection:
            found: str | None = (await connection.execute(query)).scalar()
        return found
