"""What an export has besides rounds and the items of plug-ins: settings, spending, messages.

Secrets, locks, queues and what a process remembers for a while stay where they are.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Connection, TableClause, inspect, literal_column, select, tuple_
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import SQLModel, col

from storage.engine import SqlStore, read_only_engine
from storage.export import ExportedMessage, ExportKind
from storage.tables import MemoRow, OutgoingRow, SpendingRow, by_letter
from storage.transactions import insert, retried_and_shielded, transaction

PAGE = 500  # rows in memory at once


@dataclass(frozen=True, slots=True)
class StoredSetting:
    """A text of the key-value store that people chose."""

    store: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class DaySpending:
    """What a round spent on a day, in micro-dollars; what it reserved holds only where it runs."""

    round_id: str
    day: date
    asker: str
    channel: str
    schedule: str
    spent_micro: int
    unknown_calls: int


SETTING = ExportKind(
    name="setting",
    noun="setting",
    adapter=TypeAdapter(StoredSetting),
    describe=lambda setting: f"Setting {setting.name!r}",
)
SPENDING = ExportKind(
    name="spending",
    noun="day of spending",
    adapter=TypeAdapter(DaySpending),
    describe=lambda spending: f"Spending of round {spending.round_id!r} on {spending.day}",
)


class SqlArchive(SqlStore):
    """Reads and writes what an export has besides rounds and the items of plug-ins."""

    async def list_settings(self, stores: Iterable[str]) -> AsyncIterator[StoredSetting]:
        """Yield the texts of these kinds."""
        chosen = select(MemoRow).where(col(MemoRow.kind).in_([*stores]))
        async for row in self._pages(chosen, col(MemoRow.kind), col(MemoRow.name)):
            yield StoredSetting(row["kind"], row["name"], row["text"])

    async def list_spending(self, since: datetime | None) -> AsyncIterator[DaySpending]:
        """Yield what each round spent on each day, or on the days since a time."""
        table = SpendingRow
        spent = select(table).where((col(table.spent_micro) > 0) | (col(table.unknown_calls) > 0))
        if since:
            spent = spent.where(col(table.day) >= since.astimezone(UTC).date())
        async for row in self._pages(spent, col(table.round_id), col(table.day)):
            del row["reserved_micro"]
            yield DaySpending(**row)

    async def _pages(self, query: Any, text_key: Any, key: Any) -> AsyncIterator[dict[str, Any]]:  # noqa: ANN401
        """Yield the rows of a table by its two keys, a page in memory at once."""
        order = (by_letter(text_key), by_letter(key) if key.type.python_type is str else key)
        rows: Sequence[dict[str, Any]] = await self._page(query.order_by(*order))
        while rows:
            for row in rows:
                yield row
            last = (rows[-1][text_key.name], rows[-1][key.name])
            rows = await self._page(query.where(tuple_(*order) > last).order_by(*order))

    @retried_and_shielded
    async def _page(self, query: Any) -> Sequence[dict[str, Any]]:  # noqa: ANN401
        return await self._fetch(query.limit(PAGE))

    @retried_and_shielded
    async def list_messages(self, round_id: str) -> tuple[ExportedMessage, ...]:
        """Return the messages of a round that were sent."""
        table = OutgoingRow
        sent = (
            col(table.round_id) == round_id,
            col(table.message).is_not(None),
            col(table.key).contains(f"/{round_id}/", autoescape=True),
        )
        query: Any = select(col(table.key), col(table.message), col(table.claimed_at).label("at"))
        rows = await self._fetch(query.where(*sent).order_by(by_letter(table.key)))
        return tuple(ExportedMessage(**row) for row in rows)

    @retried_and_shielded
    async def save_messages(self, round_id: str, messages: Sequence[ExportedMessage]) -> None:
        """Store the messages of an imported round, so that forgetting it can delete them."""
        rows = [
            OutgoingRow(key=one.key, round_id=round_id, claimed_at=one.at, message=one.message)
            for one in messages
        ]
        if rows:
            async with self._write() as connection:
                await insert(connection, rows)

    @retried_and_shielded
    async def save(self, item: StoredSetting | DaySpending, at: datetime) -> bool:
        """Store an item unless there is one with its key; return whether there was none."""
        if isinstance(item, StoredSetting):
            row: SQLModel = MemoRow(kind=item.store, name=item.name, text=item.text, at=at)
        else:
            names = ("round_id", "day", "asker", "channel", "schedule")
            row = SpendingRow(
                **{name: getattr(item, name) for name in names},
                spent_micro=item.spent_micro,
                unknown_calls=item.unknown_calls,
            )
        async with self._write() as connection:
            return await insert(connection, [row])


async def list_unknown_tables(engine: AsyncEngine) -> list[str]:
    """Return the tables with rows that no part of this program knows, such as those of plug-ins."""
    async with transaction(read_only_engine(engine)) as connection:
        known = {*SQLModel.metadata.tables, "alembic_version"}
        names = sorted({*await connection.run_sync(_table_names)} - known)
        others = [name for name in names if not name.startswith("procrastinate_")]
        row: Any = select(literal_column("1"))
        return [
            name
            for name in others
            if (await connection.execute(row.select_from(TableClause(name)).limit(1))).first()
        ]


def _table_names(connection: Connection) -> list[str]:
    return inspect(connection).get_table_names()
