"""Where records come from and of whom they are, as rows: one for all records alike."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import and_, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import col

from council.bakeoffs.ports import EVERY_RECORD, RecordQuery
from council.bakeoffs.records import VERSION, PackedRecord
from council.bias import votes
from storage.bakeoff_tables import SOURCE_COLUMNS, RecordRow, SourceRow, VotesRow
from storage.engine import read_only_engine
from storage.tables import RoundRow, by_letter
from storage.transactions import (
    Lock,
    insert_into,
    insert_once,
    lock_shared,
    retried_and_shielded,
    transaction,
)

# --- Where records come from and of whom they are, as rows: one for all records alike.

_ID: Any = col(SourceRow.id)
_SOURCE_VALUES: list[Any] = [col(getattr(SourceRow, name)) for name in SOURCE_COLUMNS]


class RecordSource(NamedTuple):
    """What many records have in common."""

    panel: str
    scope: str
    bakeoff: str
    suite: str
    suite_version: str
    category: str
    shape: str


def record_source(record: PackedRecord) -> RecordSource:
    """Give what a record has in common with others."""
    return RecordSource(*(getattr(record, name) for name in SOURCE_COLUMNS))


def source_conditions(wanted: RecordQuery) -> Iterator[Any]:
    """Give what the source of a record that is wanted fulfils."""
    if wanted.scope is not None:
        yield col(SourceRow.scope) == wanted.scope
    for name in ("suite", "suite_version", "panel", "category", "bakeoff"):
        if value := getattr(wanted, name):
            yield col(getattr(SourceRow, name)) == value


async def load_sources(
    connection: AsyncConnection, wanted: RecordQuery = EVERY_RECORD
) -> Mapping[int, RecordSource]:
    """Give the sources of the records that are wanted, by their ids."""
    query = select(_ID, *_SOURCE_VALUES).where(*source_conditions(wanted))
    return {row[0]: RecordSource(*row[1:]) for row in await connection.execute(query)}


async def insert_sources(
    connection: AsyncConnection, wanted: Iterable[RecordSource]
) -> dict[RecordSource, int]:
    """Give the ids of sources, which are kept where they are new."""
    ids: dict[RecordSource, int] = {}
    for source in sorted({*wanted}):
        values = source._asdict()
        once = insert_once(SourceRow, connection.dialect.name)
        await connection.execute(once, [values])
        same = [col(getattr(SourceRow, name)) == value for name, value in values.items()]
        ids[source] = (await connection.execute(select(_ID).where(*same))).scalar_one()
    return ids


async def delete_unused_sources(connection: AsyncConnection) -> None:
    """Delete what no record, and no votes, come from any more."""
    known = (_ID.not_in(select(col(table.source_id))) for table in (RecordRow, VotesRow))
    await connection.execute(delete(SourceRow).where(*known))


# --- The numbers of closed rounds in a SQL database, read very many at once.

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

Table = type[RecordRow] | type[VotesRow]


class SqlRecords:
    """Records as rows of a table, of one version; what many have in common is kept once."""

    def __init__(
        self, engine: AsyncEngine, table: Table = RecordRow, version: int = VERSION
    ) -> None:
        self._engine = engine
        self._readers = read_only_engine(engine)
        self._table = table
        self._version = version

    @retried_and_shielded
    async def missing(self, limit: int) -> tuple[str, ...]:
        """Give closed rounds, not forgotten, without a record of today's version, oldest first."""
        id_: Any = col(RoundRow.id)
        own: Any = col(self._table.round_id)
        made = and_(id_ == own, col(self._table.version) == self._version)
        query = (
            select(id_)
            .join_from(RoundRow, self._table, made, isouter=True)
            .where(col(RoundRow.seconds).is_not(None), col(RoundRow.forgotten_at).is_(None))
            .where(own.is_(None))
            .order_by(col(RoundRow.asked_at), by_letter(id_))
            .limit(limit)
        )
        async with transaction(self._readers) as connection:
            return tuple((await connection.execute(query)).scalars())

    @retried_and_shielded
    async def keep(self, records: Sequence[PackedRecord]) -> None:
        """Keep records, in place of older ones; none of a round that is no more."""
        async with transaction(self._engine) as connection:
            await lock_shared(connection, Lock.SHARED_ROWS)
            there = _existing_rounds([record.round_id for record in records])
            known = {*(await connection.execute(there)).scalars()}
            # In one order everywhere, so that no two wait for each other.
            kept = sorted(record for record in records if record.round_id in known)
            ids = await insert_sources(connection, map(record_source, kept))
            if kept:
                rows = [_row(record, ids[record_source(record)]) for record in kept]
                await connection.execute(_upsert(self._table, connection.dialect.name), rows)

    @retried_and_shielded
    async def recent(self, wanted: RecordQuery = EVERY_RECORD) -> Sequence[PackedRecord]:
        """Give the records of today's version that are wanted, oldest first."""
        table = self._table
        names = ("round_id", "asked_micro", "number", "source_id", "numbers")
        own = [col(getattr(table, name)) for name in names]
        ordered = (col(table.asked_micro), by_letter(table.round_id))
        query = select(*own).where(col(table.version) == self._version, *_conditions(table, wanted))
        async with transaction(self._readers) as connection:
            known = await load_sources(connection, wanted)
            found = (await connection.execute(query.order_by(*ordered))).all()
        # A hundred thousand take a while, and progress is told meanwhile.
        return await asyncio.to_thread(_records_from_rows, found, known, self._version)


def sql_votes(engine: AsyncEngine) -> SqlRecords:
    """Give where the votes of closed rounds are kept."""
    return SqlRecords(engine, VotesRow, votes.VERSION)


def _existing_rounds(ids: Sequence[str]) -> Any:  # noqa: ANN401
    """Give the query for those rounds there are, and stay to the end of the transaction."""
    id_: Any = col(RoundRow.id)
    own = select(id_).where(id_.in_(ids)).order_by(by_letter(id_))
    return own.with_for_update(read=True, key_share=True)


def _conditions(table: Table, wanted: RecordQuery) -> Iterator[Any]:
    if among := [*source_conditions(wanted)]:
        yield col(table.source_id).in_(select(col(SourceRow.id)).where(*among))
    if wanted.since:
        yield col(table.asked_micro) >= _microseconds(wanted.since)
    if wanted.before:
        yield col(table.asked_micro) < _microseconds(wanted.before)


def _microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def _records_from_rows(
    found: Iterable[Any], known: Mapping[int, RecordSource], version: int
) -> list[PackedRecord]:
    """Give records from their rows, quickly: this is most of what a large board takes."""
    records = []
    for round_id, asked, number, source_id, numbers in found:
        panel, scope, bakeoff, suite, suite_version, category, shape = known[source_id]
        at = EPOCH + timedelta(0, 0, asked)
        which = (bakeoff, number, suite, suite_version, category)
        records.append(PackedRecord(round_id, at, panel, scope, *which, shape, numbers, version))
    return records


def _row(record: PackedRecord, source_id: int) -> dict[str, Any]:
    return {
        "round_id": record.round_id,
        "asked_micro": _microseconds(record.asked_at),
        "number": record.number,
        "source_id": source_id,
        "numbers": record.numbers,
        "version": record.version,
    }


def _upsert(table: Table, dialect: str) -> Any:  # noqa: ANN401
    insert = insert_into(table, dialect)
    names = ("asked_micro", "number", "source_id", "numbers", "version")
    changed = {name: insert.excluded[name] for name in names}
    return insert.on_conflict_do_update(index_elements=["round_id"], set_=changed)
