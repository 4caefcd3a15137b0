"""The key-value store in a SQL database: small texts by kind and name, shared by all processes."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.ports import UNASKED
from storage.engine import SqlStore
from storage.tables import MemoRow, by_letter, starts_with
from storage.transactions import (
    current_attempt,
    insert_into,
    retried_and_shielded,
)

_KIND: Any = col(MemoRow.kind)
_NAME: Any = col(MemoRow.name)
_TEXT: Any = col(MemoRow.text)
_AT: Any = col(MemoRow.at)
_KEY = ("kind", "name")
PROBE, PROBE_CHARACTERS = "probe", 32_000  # the kind of memo


class SqlKeyValueStore(SqlStore):
    """The key-value store; times are the database server's if there is one."""

    async def check_writable(self) -> None:
        """Store a text that takes as much room as a small round, in place of the last one; once."""
        # Only a commit writes to the disk. Random, so that no server compresses it.
        await self._put(PROBE, "", secrets.token_hex(PROBE_CHARACTERS // 2))

    @retried_and_shielded
    async def put(self, kind: str, name: str, text: str) -> None:
        """Store a text, replacing the one before."""
        await self._put(kind, name, text)

    async def _put(self, kind: str, name: str, text: str) -> None:
        async with self._write() as connection:
            new = _new(connection, kind, name, text)
            changed = {"text": new.excluded.text, "at": new.excluded.at}
            await connection.execute(new.on_conflict_do_update(index_elements=_KEY, set_=changed))

    @retried_and_shielded
    async def put_if_absent(self, kind: str, name: str, text: str) -> str:
        """Store a text unless there is one; return the stored one."""
        async with self._write() as connection:
            await connection.execute(_new(connection, kind, name, text).on_conflict_do_nothing())
            query = select(_TEXT).where(kind == _KIND, name == _NAME)
            stored: str = (await connection.execute(query)).scalar_one()
        return stored

    @retried_and_shielded
    async def mark_once(self, kind: str, name: str, seconds: float) -> bool:
        """Return whether this is the first call for a name in so many seconds."""
        key = current_attempt().key
        async with self._write() as connection:
            new = _new(connection, kind, name, key)
            upsert: Any = new.on_conflict_do_update(
                index_elements=_KEY,
                set_={"at": new.excluded.at, "text": key},
                where=_ago(connection, seconds) >= _AT,
            )
            if (await connection.execute(upsert.returning(literal_column("1")))).first():
                return True
            # An earlier attempt may have been committed although its answer was lost.
            query = select(_TEXT).where(kind == _KIND, name == _NAME)
            return bool(key) and (await connection.execute(query)).scalar() == key

    @retried_and_shielded
    async def read(self, kind: str, name: str) -> str | None:
        """Return a text; None if there is none."""
        query = select(_TEXT).where(kind == _KIND, name == _NAME)
        stored: str | None = await self._fetch_value(query)
        return stored

    @retried_and_shielded
    async def list_texts(self, kind: str, start: str = "") -> Mapping[str, str]:
        """Return the texts of a kind by name, of the names that begin with `start`."""
        query = select(_NAME, _TEXT).where(kind == _KIND, starts_with(_NAME, start))
        rows = await self._fetch(query.order_by(by_letter(_NAME)))
        return {row["name"]: row["text"] for row in rows}

    @retried_and_shielded
    async def pop(self, kind: str, name: str) -> str | None:
        """Delete a text and return it; only one of several callers gets it."""
        taken: Any = delete(MemoRow).where(kind == _KIND, name == _NAME).returning(_TEXT)
        async with self._write() as connection:
            stored: str | None = (await connection.execute(taken)).scalar()
        return stored

    @retried_and_shielded
    async def delete(self, kind: str, start: str) -> None:
        """Delete the texts of a kind whose names begin with `start`."""
        await self._execute(delete(MemoRow).where(kind == _KIND, starts_with(_NAME, start)))

    @retried_and_shielded
    async def prune(self, kind: str, most: int) -> None:
        """Delete all but the `most` newest texts of a kind."""
        order = (_AT.desc(), by_letter(_NAME))
        newest = select(_NAME).where(kind == _KIND).order_by(*order).limit(most)
        await self._execute(delete(MemoRow).where(kind == _KIND, _NAME.not_in(newest)))


async def delete_unasked(connection: AsyncConnection, round_id: str) -> None:
    """Delete the lines that wait to be asked about a round."""
    quoting = _TEXT.contains(f'"{round_id}"', autoescape=True)
    await connection.execute(delete(MemoRow).where(_KIND == UNASKED, quoting))


def _new(connection: AsyncConnection, kind: str, name: str, text: str) -> Any:  # noqa: ANN401
    insert = insert_into(MemoRow, connection.dialect.name)
    return insert.values(kind=kind, name=name, text=text, at=_ago(connection, 0))


def _ago(connection: AsyncConnection, seconds: float) -> Any:  # noqa: ANN401
    """Return the time so many seconds ago, by the server's clock if there is one."""
    if connection.dialect.name == "postgresql":
        return func.clock_timestamp() - func.make_interval(0, 0, 0, 0, 0, 0, seconds)
    return datetime.now(UTC) - timedelta(seconds=seconds)
