"""Texts that the chats need again, in a SQL database: every process reads what one has noted."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import col

from storage.engine import read_only_engine
from storage.tables import MemoRow, by_letter
from storage.transactions import current_attempt, insert_into, retried_and_shielded, transaction

_KIND: Any = col(MemoRow.kind)
_NAME: Any = col(MemoRow.name)
_TEXT: Any = col(MemoRow.text)
_AT: Any = col(MemoRow.at)
_KEY = ("kind", "name")


class SqlKeyValueStore:
    """Texts as rows; moments are the database server's own where there is one."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._readers = read_only_engine(engine)

    @retried_and_shielded
    async def note(self, kind: str, name: str, text: str) -> None:
        """Keep a text, in place of the one before."""
        async with transaction(self._engine) as connection:
            new = _new(connection, kind, name, text)
            changed = {"text": new.excluded.text, "at": new.excluded.at}
            await connection.execute(new.on_conflict_do_update(index_elements=_KEY, set_=changed))

    @retried_and_shielded
    async def first(self, kind: str, name: str, text: str) -> str:
        """Keep a text unless there is one, and give the one there is."""
        async with transaction(self._engine) as connection:
            await connection.execute(_new(connection, kind, name, text).on_conflict_do_nothing())
            query = select(_TEXT).where(kind == _KIND, name == _NAME)
            found: str = (await connection.execute(query)).scalar_one()
        return found

    @retried_and_shielded
    async def once(self, kind: str, name: str, seconds: float) -> bool:
        """Say whether this is the first time within so many seconds, and note that it was."""
        own = current_attempt().key
        async with transaction(self._engine) as connection:
            new = _new(connection, kind, name, own)
            again: Any = new.on_conflict_do_update(
                index_elements=_KEY,
                set_={"at": new.excluded.at, "text": own},
                where=_ago(connection, seconds) >= _AT,
            )
            if (await connection.execute(again.returning(literal_column("1")))).first():
                return True
            # A try before this one may have arrived although nobody heard so.
            query = select(_TEXT).where(kind == _KIND, name == _NAME)
            return bool(own) and (await connection.execute(query)).scalar() == own

    @retried_and_shielded
    async def read(self, kind: str, name: str) -> str | None:
        """Give a text; None where there is none."""
        query = select(_TEXT).where(kind == _KIND, name == _NAME)
        async with transaction(self._readers) as connection:
            found: str | None = (await connection.execute(query)).scalar()
        return found

    @retried_and_shielded
    async def every(self, kind: str, start: str = "") -> Mapping[str, str]:
        """Give the texts of a kind whose names start so, by name."""
        query = select(_NAME, _TEXT).where(kind == _KIND, _starts(start)).order_by(by_letter(_NAME))
        async with transaction(self._readers) as connection:
            found = (await connection.execute(query)).all()
        return {row.name: row.text for row in found}

    @retried_and_shielded
    async def take(self, kind: str, name: str) -> str | None:
        """Give a text and keep it no more; of two who take it one has it."""
        taken: Any = delete(MemoRow).where(kind == _KIND, name == _NAME).returning(_TEXT)
        async with transaction(self._engine) as connection:
            found: str | None = (await connection.execute(taken)).scalar()
        return found

    @retried_and_shielded
    async def drop(self, kind: str, start: str) -> None:
        """Keep no text of a kind any more whose name starts so."""
        async with transaction(self._engine) as connection:
            await connection.execute(delete(MemoRow).where(kind == _KIND, _starts(start)))

    @retried_and_shielded
    async def keep_newest(self, kind: str, most: int) -> None:
        """Keep so many texts of a kind at most, those that were noted last."""
        order = (_AT.desc(), by_letter(_NAME))
        newest = select(_NAME).where(kind == _KIND).order_by(*order).limit(most)
        async with transaction(self._engine) as connection:
            await connection.execute(delete(MemoRow).where(kind == _KIND, _NAME.not_in(newest)))


def _new(connection: AsyncConnection, kind: str, name: str, text: str) -> Any:  # noqa: ANN401
    insert = insert_into(MemoRow, connection.dialect.name)
    return insert.values(kind=kind, name=name, text=text, at=_ago(connection, 0))


def _ago(connection: AsyncConnection, seconds: float) -> Any:  # noqa: ANN401
    """Give the moment so many seconds ago by the one clock that all processes share."""
    if connection.dialect.name == "postgresql":
        return func.clock_timestamp() - func.make_interval(0, 0, 0, 0, 0, 0, seconds)
    return datetime.now(UTC) - timedelta(seconds=seconds)


def _starts(start: str) -> Any:  # noqa: ANN401
    # LIKE would take capitals for small letters on SQLite, and on Postgres not.
    return func.substr(_NAME, 1, len(start)) == start
