"""The record store in a SQL database: statistics of closed rounds, read in bulk by leaderboards."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import delete, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import col

from council.bakeoffs.bias import votes
from council.bakeoffs.ports import ALL_RECORDS, RecordQuery
from council.bakeoffs.records import COMPUTED_SINCE, PackedRecord
from storage.bakeoffs.tables import SOURCE_COLUMNS, RecordRow, SourceRow, VotesRow
from storage.engine import SqlStore
from storage.tables import RoundRow, by_letter
from storage.transactions import (
    Lock,
    insert_into,
    insert_once,
    lock_shared,
    retried_and_shielded,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

Table = type[RecordRow] | type[VotesRow]

_ID: Any = col(SourceRow.id)
_SOURCE_VALUES: list[Any] = [col(getattr(SourceRow, name)) for name in SOURCE_COLUMNS]


class RecordSource(NamedTuple):
    """The values that many records share, stored once."""

    panel: str
    scope: str
    bakeoff: str
    suite: str
    suite_version: str
    category: str
    shape: str


class SqlRecords(SqlStore):
    """The store of packed statistics or votes.

    Those of a version before `computed_since` are computed again if the texts of their round are
    there; else they stay as they are.
    """

    def __init__(
        self, engine: AsyncEngine, table: Table = RecordRow, computed_since: int = COMPUTED_SINCE
    ) -> None:
        super().__init__(engine)
        self._table = table
        self._computed_since = computed_since

    @retried_and_shielded
    async def list_missing(self, limit: int) -> tuple[str, ...]:
        """Return closed rounds whose record is missing, oldest first.

        Likewise those with an old record, unless they are forgotten.
        """
        id_: Any = col(RoundRow.id)
        recorded: Any = col(self._table.round_id)
        is_old: Any = col(self._table.version) < self._computed_since
        query = (
            select(id_)
            .join_from(RoundRow, self._table, id_ == recorded, isouter=True)
            .where(col(RoundRow.seconds).is_not(None))
            .where(or_(recorded.is_(None), is_old & col(RoundRow.forgotten_at).is_(None)))
            .order_by(col(RoundRow.asked_at), by_letter(id_))
            .limit(limit)
        )
        return tuple(await self._fetch_column(query))

    @retried_and_shielded
    async def save(self, records: Sequence[PackedRecord]) -> None:
        """Store records; skip those of deleted rounds.

        They replace older ones, but a forgotten round keeps what was computed from its texts.
        """
        async with self._write() as connection:
            await lock_shared(connection, Lock.SHARED_ROWS)
            id_: Any = col(RoundRow.id)
            query = select(id_).where(id_.in_([record.round_id for record in records]))
            locked = query.order_by(by_letter(id_)).with_for_update(read=True, key_share=True)
            existing = {*(await connection.execute(locked)).scalars()}
            # Sorted, so that no two transactions deadlock.
            current = sorted(record for record in records if record.round_id in existing)
            ids = await _insert_sources(connection, map(_source, current))
            if current:
                rows = [_row(record, ids[_source(record)]) for record in current]
                insert = insert_into(self._table, connection.dialect.name)
                changed = {name: insert.excluded[name] for name in rows[0] if name != "round_id"}
                remembered = select(id_).where(col(RoundRow.forgotten_at).is_(None))
                upsert = insert.on_conflict_do_update(
                    index_elements=["round_id"],
                    set_=changed,
                    where=col(self._table.round_id).in_(remembered),
                )
                await connection.execute(upsert, rows)

    @retried_and_shielded
    async def list_recent(self, wanted: RecordQuery = ALL_RECORDS) -> Sequence[PackedRecord]:
        """Return the wanted records, oldest first."""
        table = self._table
        names = ("round_id", "asked_micro", "number", "source_id", "numbers", "version")
        columns = [col(getattr(table, name)) for name in names]
        newest_first = (col(table.asked_micro).desc(), by_letter(table.round_id).desc())
        query = select(*columns).where(*_conditions(table, wanted)).order_by(*newest_first)
        if wanted.newest:
            query = query.limit(wanted.newest)
        async with self._read() as connection:
            sources = await _load_sources(connection, wanted)
            rows = (await connection.execute(query)).all()[::-1]
        # In a thread: a hundred thousand records take a while.
        return await asyncio.to_thread(_records_from_rows, rows, sources)


def sql_votes(engine: AsyncEngine) -> SqlRecords:
    """Return the store of the votes of closed rounds."""
    return SqlRecords(engine, VotesRow, votes.COMPUTED_SINCE)


def _conditions(table: Table, query: RecordQuery) -> Iterator[Any]:
    if conditions := [*_source_conditions(query)]:
        yield col(table.source_id).in_(select(col(SourceRow.id)).where(*conditions))
    if query.since:
        yield col(table.asked_micro) >= _microseconds(query.since)
    if query.before:
        yield col(table.asked_micro) < _microseconds(query.before)


def _microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def _records_from_rows(
    rows: Iterable[Any], sources: Mapping[int, RecordSource]
) -> list[PackedRecord]:
    """Return records from their rows: the hot loop of a large leaderboard."""
    records = []
    for round_id, asked, number, source_id, numbers, version in rows:
        panel, scope, bakeoff, suite, suite_version, category, shape = sources[source_id]
        record = PackedRecord(
            round_id,
            EPOCH + timedelta(0, 0, asked),
            panel,
            scope,
            bakeoff,
            number,
            suite,
            suite_version,
            category,
            shape,
            numbers,
            version,
        )
        records.append(record)
    return records


def _source(record: PackedRecord) -> RecordSource:
    return RecordSource(**{name: getattr(record, name) for name in RecordSource._fields})


def _row(record: PackedRecord, source_id: int) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in ("round_id", "number", "numbers", "version")}
    return values | {"asked_micro": _microseconds(record.asked_at), "source_id": source_id}


def _source_conditions(query: RecordQuery) -> Iterator[Any]:
    """Yield the conditions on the source of a wanted record."""
    if query.scope is not None:
        yield col(SourceRow.scope) == query.scope
    for name in ("suite", "suite_version", "panel", "category", "bakeoff"):
        if value := getattr(query, name):
            yield col(getattr(SourceRow, name)) == value


async def _load_sources(
    connection: AsyncConnection, query: RecordQuery = ALL_RECORDS
) -> Mapping[int, RecordSource]:
    """Return the sources of the wanted records by id."""
    statement = select(_ID, *_SOURCE_VALUES).where(*_source_conditions(query))
    return {row[0]: RecordSource(*row[1:]) for row in await connection.execute(statement)}


async def _insert_sources(
    connection: AsyncConnection, sources: Iterable[RecordSource]
) -> dict[RecordSource, int]:
    """Store the sources that are new; return the ids of all."""
    ids: dict[RecordSource, int] = {}
    for source in sorted({*sources}):
        values = source._asdict()
        once = insert_once(SourceRow, connection.dialect.name)
        await connection.execute(once, [values])
        same = [col(getattr(SourceRow, name)) == value for name, value in values.items()]
        ids[source] = (await connection.execute(select(_ID).where(*same))).scalar_one()
    return ids


async def delete_unused_sources(connection: AsyncConnection) -> None:
    """Delete the sources without records and votes."""
    is_unused = (_ID.not_in(select(col(table.source_id))) for table in (RecordRow, VotesRow))
    await connection.execute(delete(SourceRow).where(*is_unused))
