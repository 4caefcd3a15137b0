"""Where records come from and of whom they are, as rows: one for all records alike."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.bakeoffs.ports import EVERY_RECORD, WantedRecords
from council.bakeoffs.records import Packed
from storage.acts import insert_once
from storage.bench_rows import SOURCE, RecordRow, SourceRow, VotesRow

_ID: Any = col(SourceRow.id)
_OWN: list[Any] = [col(getattr(SourceRow, name)) for name in SOURCE]


class Source(NamedTuple):
    """What many records have in common."""

    panel: str
    scope: str
    bakeoff: str
    suite: str
    suite_version: str
    category: str
    shape: str


def source_of(record: Packed) -> Source:
    """Give what a record has in common with others."""
    return Source(*(getattr(record, name) for name in SOURCE))


def conditions(wanted: WantedRecords) -> Iterator[Any]:
    """Give what the source of a record that is wanted fulfils."""
    if wanted.scope is not None:
        yield col(SourceRow.scope) == wanted.scope
    for name in ("suite", "suite_version", "panel", "category", "bakeoff"):
        if value := getattr(wanted, name):
            yield col(getattr(SourceRow, name)) == value


async def sources(
    connection: AsyncConnection, wanted: WantedRecords = EVERY_RECORD
) -> Mapping[int, Source]:
    """Give the sources of the records that are wanted, by their ids."""
    query = select(_ID, *_OWN).where(*conditions(wanted))
    return {row[0]: Source(*row[1:]) for row in await connection.execute(query)}


async def source_ids(connection: AsyncConnection, wanted: Iterable[Source]) -> dict[Source, int]:
    """Give the ids of sources, which are kept where they are new."""
    ids: dict[Source, int] = {}
    for source in sorted({*wanted}):
        values = source._asdict()
        once = insert_once(SourceRow, connection.dialect.name)
        await connection.execute(once, [values])
        same = [col(getattr(SourceRow, name)) == value for name, value in values.items()]
        ids[source] = (await connection.execute(select(_ID).where(*same))).scalar_one()
    return ids


async def drop_sources(connection: AsyncConnection) -> None:
    """Delete what no record, and no votes, come from any more."""
    known = (_ID.not_in(select(col(table.source_id))) for table in (RecordRow, VotesRow))
    await connection.execute(delete(SourceRow).where(*known))
