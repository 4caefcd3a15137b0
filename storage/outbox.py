"""The outbox store in a SQL database: claims on outgoing messages, so that each is sent once."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    DateTime,
    Interval,
    bindparam,
    delete,
    func,
    literal,
    literal_column,
    or_,
    select,
    update,
)
from sqlmodel import col

from council.ports import Claim, SentPart
from storage.engine import SqlStore
from storage.tables import OutgoingRow, RoundRow, by_letter, starts_with
from storage.transactions import (
    current_attempt,
    fetch_rows,
    insert_once,
    is_own_write,
    retried_and_shielded,
)

_OWN_COLUMNS = ("claimed_by", "message")  # `claimed_by` is unique for each operation

_CLAIMED_AT: Any = col(OutgoingRow.claimed_at)
_MARK: Any = (
    update(OutgoingRow)
    .where(col(OutgoingRow.key) == bindparam("of"))
    .values(message=bindparam("sent"))
    .returning(literal_column("1"))
)


class SqlOutbox(SqlStore):
    """The outbox store: one sender claims a message; on Postgres its clock replaces `now`."""

    @retried_and_shielded
    async def claim(self, key: str, round_id: str, now: datetime) -> Claim:
        """Claim the sending of a message of a round; return the claim, new or existing."""
        values = {"key": key, "round_id": round_id, "claimed_by": current_attempt().key}
        row, moment = OutgoingRow(**values, claimed_at=now), self._moment(now)
        once = insert_once(OutgoingRow, self.engine.dialect.name)
        query = select(OutgoingRow, moment.label("moment")).where(col(OutgoingRow.key) == key)
        async with self._write() as connection:
            inserted = await connection.execute(once.values(**values, claimed_at=moment))
            is_new = inserted.first() is not None
            if is_new and connection.dialect.name == "sqlite":  # there is no other clock
                return Claim(key, now, None, is_new, 0.0)
            is_new = is_new or await is_own_write(connection, row, _OWN_COLUMNS)
            [stored] = await fetch_rows(connection, query)
        age = (stored["moment"] - stored["claimed_at"]).total_seconds()
        return Claim(key, stored["claimed_at"], stored["message"], is_new, age)

    @retried_and_shielded
    async def reclaim(self, claim: Claim, now: datetime) -> bool:
        """Take a stale claim; return False if it was marked or taken in the meantime."""
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
        )
        if await self._execute(taken):
            return True
        async with self._read() as connection:
            return await is_own_write(connection, row, _OWN_COLUMNS)

    @retried_and_shielded
    async def mark(self, key: str, message: str) -> None:
        """Store that a message was sent, with its id in the chat."""
        await self._execute(_MARK, {"of": key, "sent": message})

    @retried_and_shielded
    async def find_message(self, key: str) -> str | None:
        """Return the id of the message that was sent under a key; None if none was."""
        query = select(col(OutgoingRow.message)).where(col(OutgoingRow.key) == key)
        message: str | None = await self._fetch_value(query)
        return message

    @retried_and_shielded
    async def find_key(self, start: str, message: str) -> str | None:
        """Return the key that begins with `start` of a sent message; None if there is none."""
        key = col(OutgoingRow.key)
        own = (col(OutgoingRow.message) == message, starts_with(key, start))
        query = select(key).where(*own).order_by(by_letter(key)).limit(1)
        found: str | None = await self._fetch_value(query)
        return found

    @retried_and_shielded
    async def list_forgotten(self, now: datetime) -> Sequence[SentPart]:
        """Return the messages of forgotten rounds; roots come after their replies.

        One that is claimed and not marked as sent is among them after a minute.
        """
        settled = self._moment(now, timedelta(minutes=1)) > _CLAIMED_AT
        key, message = col(OutgoingRow.key), col(OutgoingRow.message)
        query = (
            select(key, col(OutgoingRow.round_id), message)
            .join(RoundRow, col(RoundRow.id) == col(OutgoingRow.round_id))
            .where(col(RoundRow.forgotten_at).is_not(None), or_(message.is_not(None), settled))
            .order_by(by_letter(key).desc())
        )
        return tuple(SentPart(**row) for row in await self._fetch(query))

    @retried_and_shielded
    async def remove(self, key: str) -> None:
        """Delete the claim of a message."""
        await self._execute(delete(OutgoingRow).where(col(OutgoingRow.key) == key))

    @retried_and_shielded
    async def count_unmarked(self, older_seconds: float, now: datetime) -> int:
        """Return the number of claims older than this that are not marked as sent."""
        since = self._moment(now, timedelta(seconds=older_seconds))
        stale = (col(OutgoingRow.message).is_(None), since > _CLAIMED_AT)
        return int(await self._fetch_value(select(func.count()).where(*stale)))

    def _moment(self, now: datetime, ago: timedelta = timedelta()) -> Any:  # noqa: ANN401
        """Return the time `ago`, by the server's clock if there is one."""
        if self.engine.dialect.name == "postgresql":
            moment = func.clock_timestamp(type_=DateTime(timezone=True))
            return moment - literal(ago, Interval()) if ago else moment
        return literal(now - ago, _CLAIMED_AT.type)
