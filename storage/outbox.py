"""Messages on their way out, in a SQL database."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import DateTime, Interval, func, literal, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import col

from council.budget_caps import Claim
from storage.tables import OutgoingRow, by_letter
from storage.transactions import (
    current_attempt,
    fetch_rows,
    insert_once,
    is_own_write,
    retried_and_shielded,
    transaction,
)

_OWN_COLUMNS = ("claimed_by", "message")  # no two acts have one key

_CLAIMED_AT: Any = col(OutgoingRow.claimed_at)


class SqlOutbox:
    """Messages as rows; of two that claim the same one, one has it.

    On Postgres, which several machines share, moments are the server's and `now` is left aside.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine

    @retried_and_shielded
    async def claim(self, key: str, round_id: str, now: datetime) -> Claim:
        """Undertake to send a message of a round, or give the claim there is already."""
        own = {"key": key, "round_id": round_id, "claimed_by": current_attempt().key}
        row, moment = OutgoingRow(**own, claimed_at=now), self._moment(now)
        once = insert_once(OutgoingRow, self.engine.dialect.name)
        query = select(OutgoingRow, moment.label("moment")).where(col(OutgoingRow.key) == key)
        async with transaction(self.engine) as connection:
            inserted = await connection.execute(once.values(**own, claimed_at=moment))
            is_new = inserted.first() is not None or await is_own_write(
                connection, row, _OWN_COLUMNS
            )
            [found] = await fetch_rows(connection, query)
        age = (found["moment"] - found["claimed_at"]).total_seconds()
        return Claim(key, found["claimed_at"], found["message"], is_new, age)

    @retried_and_shielded
    async def take_over(self, claim: Claim, now: datetime) -> bool:
        """Take a claim from whoever let it lie; False if it was marked or taken meanwhile."""
        row = OutgoingRow(
            key=claim.key, round_id="", claimed_at=now, claimed_by=current_attempt().key
        )
        taken: Any = (
            update(OutgoingRow)
            .where(
                col(OutgoingRow.key) == claim.key,
                claim.claimed_at == _CLAIMED_AT,
                col(OutgoingRow.message).is_(None),
            )
            .values(claimed_at=self._moment(now), claimed_by=row.claimed_by)
            .returning(literal_column("1"))
        )
        async with transaction(self.engine) as connection:
            is_taken = (await connection.execute(taken)).first() is not None
            return is_taken or await is_own_write(connection, row, _OWN_COLUMNS)

    @retried_and_shielded
    async def mark(self, key: str, message: str) -> None:
        """Note that a message was sent, with the id it has in its chat."""
        marked = update(OutgoingRow).where(col(OutgoingRow.key) == key).values(message=message)
        async with transaction(self.engine) as connection:
            await connection.execute(marked)

    @retried_and_shielded
    async def message_of(self, key: str) -> str | None:
        """Give the message that was sent under a key, None if none was."""
        query = select(col(OutgoingRow.message)).where(col(OutgoingRow.key) == key)
        async with transaction(self.engine) as connection:
            found: str | None = (await connection.execute(query)).scalar()
        return found

    @retried_and_shielded
    async def key_of(self, start: str, message: str) -> str | None:
        """Give the key with this start under which a message was sent, if any was."""
        key = col(OutgoingRow.key)
        # LIKE would take capitals for small letters on SQLite, and on Postgres not.
        begins = func.substr(key, 1, len(start)) == start
        query = select(key).where(col(OutgoingRow.message) == message, begins)
        query = query.order_by(by_letter(key)).limit(1)
        async with transaction(self.engine) as connection:
            found: str | None = (await connection.execute(query)).scalar()
        return found

    @retried_and_shielded
    async def unmarked(self, older_seconds: float, now: datetime) -> int:
        """Count the claims that have lain for longer than that without a mark."""
        since = self._moment(now, timedelta(seconds=older_seconds))
        lying = (col(OutgoingRow.message).is_(None), since > _CLAIMED_AT)
        async with transaction(self.engine) as connection:
            found = await connection.execute(select(func.count()).where(*lying))
            return int(found.scalar_one())

    def _moment(self, now: datetime, ago: timedelta = timedelta()) -> Any:  # noqa: ANN401
        """Give the moment it is, or so long ago, by the clock that all who write here share."""
        if self.engine.dialect.name == "postgresql":
            moment = func.clock_timestamp(type_=DateTime(timezone=True))
            return moment - literal(ago, Interval()) if ago else moment
        return literal(now - ago, _CLAIMED_AT.type)
