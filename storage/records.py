"""The numbers of closed rounds in a SQL database, read very many at once."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import col

from council.bakeoffs.packed import Packed
from council.bakeoffs.ports import EVERY_RECORD, WantedRecords
from council.bakeoffs.records import VERSION
from storage.acts import insert_once, transaction
from storage.bench_rows import RecordRow, ShapeRow
from storage.database import for_reading
from storage.finishing import finished
from storage.rows import RoundRow

_ROUND_ID: Any = col(RecordRow.round_id)
_ASKED_AT: Any = col(RecordRow.asked_at)
_VERSION: Any = col(RecordRow.version)
# In the order of what is packed, a shape by its id.
_NAMES = ["shape_id" if name == "shape" else name for name in Packed._fields]
_OWN: list[Any] = [col(getattr(RecordRow, name)) for name in _NAMES]
_SHAPE = _NAMES.index("shape_id")


class SqlRecords:
    """Records as rows; whom the numbers are of is kept once for all rows alike."""

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
            there = select(col(RoundRow.id)).where(
                col(RoundRow.id).in_([record.round_id for record in records])
            )
            known = {*(await connection.execute(there)).scalars()}
            kept = [record for record in records if record.round_id in known]
            if kept:
                shapes = await _shape_ids(connection, {record.shape for record in kept})
                rows = [_row(record, shapes) for record in kept]
                await connection.execute(_upsert(connection.dialect.name), rows)

    @finished
    async def recent(self, wanted: WantedRecords = EVERY_RECORD) -> Sequence[Packed]:
        """Give the records of today's version that are wanted, oldest first."""
        query = select(*_OWN).where(_VERSION == VERSION, *_conditions(wanted))
        shapes: Any = select(col(ShapeRow.id), col(ShapeRow.shape))
        async with transaction(self._readers) as connection:
            names = {row.id: row.shape for row in await connection.execute(shapes)}
            found = await connection.execute(query.order_by(_ASKED_AT, _ROUND_ID))
        return [_packed(row, names[row[_SHAPE]]) for row in found]


def _conditions(wanted: WantedRecords) -> Iterator[Any]:
    if wanted.scope is not None:
        yield col(RecordRow.scope) == wanted.scope
    for name in ("suite", "suite_version", "panel", "category", "bakeoff"):
        if value := getattr(wanted, name):
            yield col(getattr(RecordRow, name)) == value
    if wanted.since:
        yield wanted.since <= _ASKED_AT
    if wanted.before:
        yield wanted.before > _ASKED_AT


async def _shape_ids(connection: AsyncConnection, shapes: set[str]) -> dict[str, int]:
    once = insert_once(ShapeRow, connection.dialect.name)
    await connection.execute(once, [{"shape": shape} for shape in sorted(shapes)])
    query = select(col(ShapeRow.shape), col(ShapeRow.id)).where(col(ShapeRow.shape).in_(shapes))
    return {row.shape: row.id for row in await connection.execute(query)}


def _packed(row: Any, shape: str) -> Packed:  # noqa: ANN401
    return Packed._make((*row[:_SHAPE], shape, *row[_SHAPE + 1 :]))


def _row(record: Packed, shapes: dict[str, int]) -> dict[str, Any]:
    values = record._asdict()
    values["shape_id"] = shapes[values.pop("shape")]
    return values


def _upsert(dialect: str) -> Any:  # noqa: ANN401
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(RecordRow)
    changed = {name: insert.excluded[name] for name in _NAMES if name != "round_id"}
    return insert.on_conflict_do_update(index_elements=["round_id"], set_=changed)
