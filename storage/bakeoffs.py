"""Bake-offs in a SQL database; their rounds are among the rounds."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import col

from council.bakeoffs.models import Bakeoff, Ending
from council.bakeoffs.ports import EVERY_BAKEOFF, WantedBakeoffs
from council.errors import StoreError
from storage.acts import insert, rows_of, transaction
from storage.agreed import no_bakeoff
from storage.arrived import is_own
from storage.bench_rows import BakeoffRow, SuiteBodyRow
from storage.bodies import keep_body, suite_from
from storage.database import for_reading
from storage.finishing import finished
from storage.ordering import by_letter
from storage.reading import place_from
from storage.valid import told_by_field, valid
from storage.writing import PANEL


class SqlBakeoffs:
    """Bake-offs as rows; the same on SQLite and Postgres."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._readers = for_reading(engine)

    @finished
    async def open(self, bakeoff: Bakeoff) -> bool:
        """Keep a new bake-off and its suite's version; False if its id is kept already."""
        async with transaction(self._engine) as connection:
            row = _row(bakeoff)
            if not await insert(connection, [row]):
                return await is_own(connection, row, ("at", "asked_by", "suite_version"))
            await keep_body(connection, bakeoff.suite)
            return True

    @finished
    async def end(self, bakeoff_id: str, ending: Ending | None) -> None:
        """Note a bake-off's end; None has it be gone on with."""
        await self._note(bakeoff_id, **_ending_values(ending))

    @finished
    async def limit(self, bakeoff_id: str, cap_micro: int | None) -> None:
        """Have a bake-off spend so much at most; None is no cap."""
        await self._note(bakeoff_id, cap_micro=cap_micro)

    async def _note(self, bakeoff_id: str, **values: Any) -> None:  # noqa: ANN401
        own: Any = update(BakeoffRow).where(col(BakeoffRow.id) == bakeoff_id).values(**values)
        async with transaction(self._engine) as connection:
            noted = await connection.execute(own.returning(literal_column("1")))
            if noted.first() is None:
                raise no_bakeoff(bakeoff_id)

    @finished
    async def load(self, bakeoff_id: str) -> Bakeoff:
        """Give a bake-off; BakeoffError where there is none."""
        query = _with_bodies().where(col(BakeoffRow.id) == bakeoff_id)
        async with transaction(self._readers) as connection:
            found = await rows_of(connection, query)
        if not found:
            raise no_bakeoff(bakeoff_id)
        return _bakeoff_from(found[0])

    @finished
    async def recent(
        self, limit: int | None = None, wanted: WantedBakeoffs = EVERY_BAKEOFF
    ) -> tuple[Bakeoff, ...]:
        """Give those that are wanted, newest first; `load` names one that cannot be read."""
        newest_first = (col(BakeoffRow.at).desc(), by_letter(BakeoffRow.id))
        query = _with_bodies().where(*_conditions(wanted)).order_by(*newest_first).limit(limit)
        async with transaction(self._readers) as connection:
            found = await rows_of(connection, query)
        return tuple(_readable(found))


def _readable(found: Iterable[dict[str, Any]]) -> Iterator[Bakeoff]:
    for row in found:
        with suppress(StoreError):
            yield _bakeoff_from(row)


def _conditions(wanted: WantedBakeoffs) -> Iterator[Any]:
    if wanted.scope is not None:
        yield col(BakeoffRow.scope) == wanted.scope
    if wanted.suite:
        yield col(BakeoffRow.suite) == wanted.suite
    if wanted.panel:
        yield col(BakeoffRow.panel_name) == wanted.panel
    if wanted.schedule:
        yield col(BakeoffRow.schedule) == wanted.schedule
    if wanted.unfinished:
        yield col(BakeoffRow.ended_at).is_(None)


def _with_bodies() -> Select[Any]:
    version: Any = col(SuiteBodyRow.version)
    query = select(BakeoffRow, col(SuiteBodyRow.body))
    same = version == col(BakeoffRow.suite_version)
    return query.join_from(BakeoffRow, SuiteBodyRow, same, isouter=True)


def _row(bakeoff: Bakeoff) -> BakeoffRow:
    suite, panel = bakeoff.suite, bakeoff.panel
    return BakeoffRow(
        id=bakeoff.id,
        suite=suite.name,
        suite_scope=suite.scope,
        suite_version=suite.version,
        panel_name=panel.name,
        panel=PANEL.dump_python(panel, mode="json"),
        scope=bakeoff.place.scope,
        asked_by=bakeoff.asked_by,
        at=bakeoff.at,
        cap_micro=bakeoff.cap_micro,
        schedule=bakeoff.schedule,
        **asdict(bakeoff.place),
        **_ending_values(bakeoff.ending),
    )


def _ending_values(ending: Ending | None) -> dict[str, Any]:
    failure = ending.failure if ending else None
    return {"ended_at": ending.at if ending else None, "failure": failure}


def _bakeoff_from(found: dict[str, Any]) -> Bakeoff:
    """Give the bake-off a row holds; StoreError naming the field that none can hold."""
    row = BakeoffRow(**{key: value for key, value in found.items() if key != "body"})
    with told_by_field("Bake-off", row.id):
        return Bakeoff(
            id=row.id,
            suite=suite_from(row.suite_scope, row.suite, found["body"]),
            panel=valid("bakeoff.panel", PANEL.validate_python, row.panel),
            place=place_from(row),
            asked_by=row.asked_by,
            at=row.at,
            cap_micro=row.cap_micro,
            schedule=row.schedule,
            ending=Ending(row.ended_at, row.failure) if row.ended_at else None,
        )
