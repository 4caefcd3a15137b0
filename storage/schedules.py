"""Schedules in a SQL database."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import case, delete, literal_column, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import col

from council.bakeoffs.models import Schedule
from storage.acts import insert_into, rows_of, transaction
from storage.agreed import name_taken
from storage.bench_rows import ScheduleRow
from storage.database import for_reading
from storage.finishing import finished, this_try
from storage.ordering import by_letter
from storage.reading import place_from

_ID: Any = col(ScheduleRow.id)
_SCOPE: Any = col(ScheduleRow.scope)
_LAST_SLOT: Any = col(ScheduleRow.last_slot)


class SqlSchedules:
    """Schedules as rows; of those who would take a slot at once, one has it."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._readers = for_reading(engine)

    @finished
    async def keep(self, schedule: Schedule) -> None:
        """Keep a new schedule, or a changed one under its id; ScheduleError for a taken name."""
        async with transaction(self._engine) as connection:
            try:
                await connection.execute(keeping(schedule, connection.dialect.name))
            except IntegrityError:  # the one key beside the id
                raise name_taken(schedule.name) from None

    @finished
    async def take(self, schedule_id: str, slot: str) -> bool:
        """Take a slot; False where it, or a later one, was taken before, by whatever process."""
        open_ = (schedule_id == _ID, slot > by_letter(_LAST_SLOT))
        taken: Any = update(ScheduleRow).where(*open_).values(last_slot=slot)
        async with transaction(self._engine) as connection:
            found = await connection.execute(taken.returning(literal_column("1")))
            return found.first() is not None or await _was_taken(connection, schedule_id, slot)

    @finished
    async def every(self, scope: str | None = None) -> tuple[Schedule, ...]:
        """Give the schedules of a scope, or all, by name."""
        query = select(ScheduleRow).order_by(by_letter(ScheduleRow.name), by_letter(_SCOPE))
        if scope is not None:
            query = query.where(scope == _SCOPE)
        async with transaction(self._readers) as connection:
            return tuple(map(_schedule_from, await rows_of(connection, query)))

    @finished
    async def remove(self, schedule_id: str) -> bool:
        """Have a schedule no more; its bake-offs stay."""
        gone: Any = delete(ScheduleRow).where(schedule_id == _ID).returning(literal_column("1"))
        async with transaction(self._engine) as connection:
            return (await connection.execute(gone)).first() is not None


async def _was_taken(connection: AsyncConnection, schedule_id: str, slot: str) -> bool:
    """Say whether the slot was taken by a try of this act that was lost."""
    own = select(_LAST_SLOT).where(schedule_id == _ID)
    return this_try().again and (await connection.execute(own)).scalar() == slot


def keeping(schedule: Schedule, dialect: str) -> Any:  # noqa: ANN401
    """Give the insert that changes a schedule that is there, and gives back no slot of its zone."""
    insert = insert_into(ScheduleRow, dialect)
    values = {**asdict(schedule), "subscribers": [*schedule.subscribers]}
    values |= values.pop("place")
    upsert = insert.values(**values)
    new = upsert.excluded
    stays = case((by_letter(new.last_slot) < _LAST_SLOT, _LAST_SLOT), else_=new.last_slot)
    slot = case((col(ScheduleRow.zone) == new.zone, stays), else_=new.last_slot)
    changed = {name: new[name] for name in values if name != "id"} | {"last_slot": slot}
    return upsert.on_conflict_do_update(index_elements=["id"], set_=changed)


def _schedule_from(found: dict[str, Any]) -> Schedule:
    row = ScheduleRow(**found)
    return Schedule(
        id=row.id,
        name=row.name,
        suite=row.suite,
        panel=row.panel,
        cron=row.cron,
        zone=row.zone,
        words=row.words,
        place=place_from(row),
        made_by=row.made_by,
        made_at=row.made_at,
        scope=row.scope,
        paused=row.paused,
        cap_micro=row.cap_micro,
        last_slot=row.last_slot,
        subscribers=tuple(row.subscribers),
    )
