"""The numbers of closed rounds in a SQL database, read very many at once."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import col

from council.bakeoffs.packed import Packed
from council.bakeoffs.ports import EVERY_RECORD, WantedRecords
from council.bakeoffs.records import VERSION
from storage.acts import transaction
from storage.bench_rows import RecordRow, SourceRow
from storage.database import for_reading
from storage.finishing import finished
from storage.rows import RoundRow
from storage.sources import Source, conditions, source_ids, source_of, sources

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICRO = timedelta(microseconds=1)

_ROUND_ID: Any = col(RecordRow.round_id)
_ASKED: Any = col(RecordRow.asked_micro)
_SOURCE: Any = col(RecordRow.source_id)
_VERSION: Any = col(RecordRow.version)
_OWN: tuple[Any, ...] = (_ROUND_ID, _ASKED, col(RecordRow.number), _SOURCE, col(RecordRow.numbers))


class SqlRecords:
    """Records as rows; what many have in common is kept once."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._readers = for_reading(engine)

    @finished
    async def missing(self, limit: int) -> tuple[str, ...]:
        """Give closed rounds, not forgotten, without a record of today's version, oldest first."""
        id_: Any = col(RoundRow.id)
        made = and_(id_ == _ROUND_ID, _VERSION == VERSION)
        query = (
            select(id_)
            .join_from(RoundRow, RecordRow, made, isouter=True)
            .where(col(RoundRow.seconds).is_not(None), col(RoundRow.forgotten_at).is_(None))
            .where(_ROUND_ID.is_(None))
            .order_by(col(RoundRow.asked_at), id_)
            .limit(limit)
        )
        async with transaction(self._readers) as connection:
            return tuple((await connection.execute(query)).scalars())

    @finished
    async def keep(self, records: Sequence[Packed]) -> None:
        """Keep records, in place of older ones; none of a round that is no more."""
        async with transaction(self._engine) as connection:
            id_: Any = col(RoundRow.id)
            there = select(id_).where(id_.in_([record.round_id for record in records]))
            known = {*(await connection.execute(there)).scalars()}
            kept = [record for record in records if record.round_id in known]
            ids = await source_ids(connection, map(source_of, kept))
            if kept:
                rows = [_row(record, ids[source_of(record)]) for record in kept]
                await connection.execute(_upsert(connection.dialect.name), rows)

    @finished
    async def recent(self, wanted: WantedRecords = EVERY_RECORD) -> Sequence[Packed]:
        """Give the records of today's version that are wanted, oldest first."""
        query = select(*_OWN).where(_VERSION == VERSION, *_conditions(wanted))
        async with transaction(self._readers) as connection:
            known = await sources(connection, wanted)
            found = (await connection.execute(query.order_by(_ASKED, _ROUND_ID))).all()
        # A hundred thousand take a while, and progress is told meanwhile.
        return await asyncio.to_thread(_packed, found, known)


def _conditions(wanted: WantedRecords) -> Iterator[Any]:
    if among := [*conditions(wanted)]:
        yield _SOURCE.in_(select(col(SourceRow.id)).where(*among))
    if wanted.since:
        yield _micro(wanted.since) <= _ASKED
    if wanted.before:
        yield _micro(wanted.before) > _ASKED


def _micro(moment: datetime) -> int:
    return (moment - EPOCH) // MICRO


def _packed(found: Iterable[Any], known: Mapping[int, Source]) -> list[Packed]:
    """Give records from their rows, quickly: this is most of what a large board takes."""
    records = []
    for round_id, asked, number, source_id, numbers in found:
        panel, scope, bakeoff, suite, suite_version, category, shape = known[source_id]
        at = EPOCH + timedelta(0, 0, asked)
        which = (bakeoff, number, suite, suite_version, category)
        records.append(Packed(round_id, at, panel, scope, *which, shape, numbers, VERSION))
    return records


def _row(record: Packed, source_id: int) -> dict[str, Any]:
    return {
        "round_id": record.round_id,
        "asked_micro": _micro(record.asked_at),
        "number": record.number,
        "source_id": source_id,
        "numbers": record.numbers,
        "version": record.version,
    }


def _upsert(dialect: str) -> Any:  # noqa: ANN401
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(RecordRow)
    names = ("asked_micro", "number", "source_id", "numbers", "version")
    changed = {name: insert.excluded[name] for name in names}
    return insert.on_conflict_do_update(index_elements=["round_id"], set_=changed)
