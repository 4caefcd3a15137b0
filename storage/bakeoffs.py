"""What every way of keeping suites, bake-offs and schedules agrees on."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Select, case, delete, func, literal_column, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import col

from council.bakeoffs.models import Bakeoff, Ending, Schedule, Suite
from council.bakeoffs.ports import EVERY_BAKEOFF, BakeoffQuery, StoredSuite, SuiteSummary
from council.errors import BakeoffError, ScheduleError, StoreError, SuiteError
from storage.bakeoff_tables import BakeoffRow, ExperimentRow, ScheduleRow, SuiteBodyRow, SuiteRow
from storage.engine import read_only_engine
from storage.row_mapping import PANEL, place_from_row, translate_validation_errors, validate
from storage.tables import by_letter
from storage.transactions import (
    Lock,
    current_attempt,
    fetch_rows,
    insert,
    insert_into,
    is_own_write,
    lock_exclusive,
    lock_shared,
    retried_and_shielded,
    transaction,
)

# --- What every way of keeping suites, bake-offs and schedules agrees on.


def line_of(kept: StoredSuite) -> SuiteSummary:
    """Give a kept suite in one line."""
    suite = kept.suite
    graded = sum(question.reference is not None for question in suite.questions)
    counts = (len(suite.questions), graded)
    return SuiteSummary(suite.name, suite.scope, suite.version, *counts, kept.at, kept.by)


def newest_slot(before: Schedule, after: Schedule) -> str:
    """Give the slot a changed schedule has taken last: in one zone it never goes back."""
    if before.zone != after.zone:
        return after.last_slot
    return max(before.last_slot, after.last_slot)


def no_suite(name: str, version: str = "") -> SuiteError:
    """Give the error for a suite that is not there."""
    which = f"version {version!r} of suite {name!r}" if version else f"suite {name!r}"
    return SuiteError(f"There is no {which}: `/council suite` lists those there are.")


def no_bakeoff(bakeoff_id: str) -> BakeoffError:
    """Give the error for a bake-off that is not there."""
    return BakeoffError(
        f"There is no bake-off {bakeoff_id!r}: `/council bakeoff` lists those there are."
    )


def name_taken(name: str) -> ScheduleError:
    """Give the error for a schedule whose name another has."""
    return ScheduleError(f"There is a schedule {name!r} already: give this one another name.")


# --- What suites hold, as rows: one for each version, whatever suites and bake-offs have it.

SUITE = TypeAdapter(Suite)
BODY_FIELDS = {"questions", "judges_see_references"}


async def insert_body(connection: AsyncConnection, suite: Suite) -> None:
    """Keep what a suite holds, once for each version."""
    await lock_shared(connection, Lock.SHARED_ROWS)
    body = SUITE.dump_python(suite, mode="json", include=BODY_FIELDS)
    await insert(connection, [SuiteBodyRow(version=suite.version, body=body)])


def suite_from_body(scope: str, name: str, body: Any) -> Suite:  # noqa: ANN401
    """Give the suite of a scope that goes by a name and holds this; ValueError if none can."""
    held = body if isinstance(body, dict) else {}
    return validate(
        "suite_body.body", SUITE.validate_python, {**held, "name": name, "scope": scope}
    )


async def delete_unused_bodies(connection: AsyncConnection) -> None:
    """Delete what no suite, no bake-off and no experiment holds any more."""
    version: Any = col(SuiteBodyRow.version)
    held = (
        select(col(SuiteRow.version)),
        select(col(BakeoffRow.suite_version)),
        select(col(ExperimentRow.suite_version)),
    )
    unheld = [version.not_in(versions) for versions in held]
    await connection.execute(delete(SuiteBodyRow).where(*unheld))


# --- Suites in a SQL database: a row for each version a suite had.

_SCOPE: Any = col(SuiteRow.scope)
_NAME: Any = col(SuiteRow.name)
_VERSION: Any = col(SuiteRow.version)
_NTH: Any = col(SuiteRow.nth)
_REMOVED: Any = col(SuiteRow.removed)


class SqlSuites:
    """Suites as rows; the same on SQLite and Postgres."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._readers = read_only_engine(engine)

    @retried_and_shielded
    async def keep(self, suite: Suite, by: str, at: datetime) -> bool:
        """Have this be the newest version of a scope's suite; False if it was already."""
        own = (suite.scope == _SCOPE, suite.name == _NAME)
        async with transaction(self._engine) as connection:
            await lock_exclusive(connection, Lock.SUITES)
            newest = (
                await connection.execute(
                    select(_VERSION, _NTH, _REMOVED).where(*own).order_by(_NTH.desc()).limit(1)
                )
            ).one_or_none()
            if newest and newest.version == suite.version and not newest.removed:
                return False
            await insert_body(connection, suite)
            await _keep_newest(connection, StoredSuite(suite, by, at), newest.nth if newest else 0)
            await connection.execute(update(SuiteRow).where(*own).values(removed=False))
            return True

    @retried_and_shielded
    async def load(self, scope: str, name: str, version: str = "") -> Suite:
        """Give a version, the newest without one; SuiteError where there is none."""
        # LIKE would take capitals for small letters on SQLite, and on Postgres not.
        begins = func.substr(_VERSION, 1, len(version)) == version
        meant = begins if version else _REMOVED.is_(False)
        query = _with_bodies().where(_visible_from(scope), name == _NAME, meant)
        async with transaction(self._readers) as connection:
            found = await fetch_rows(connection, query.order_by(*_own_first(scope)).limit(1))
        if not found:
            raise no_suite(name, version)
        return _suite_from_row(found[0]).suite

    @retried_and_shielded
    async def versions(self, scope: str, name: str) -> tuple[str, ...]:
        """Give the versions of a suite, newest first."""
        query = select(_SCOPE, _VERSION).where(_visible_from(scope), name == _NAME)
        async with transaction(self._readers) as connection:
            found = (await connection.execute(query.order_by(*_own_first(scope)))).all()
        return tuple(row.version for row in found if row.scope == found[0].scope)

    @retried_and_shielded
    async def lines(self, scope: str) -> tuple[SuiteSummary, ...]:
        """Give what a workspace can choose from: its own suites and the house's, by name."""
        query = select(SuiteRow).where(_visible_from(scope), _REMOVED.is_(False))
        async with transaction(self._readers) as connection:
            found = await fetch_rows(connection, query.order_by(*_own_first(scope)))
        chosen: dict[str, SuiteSummary] = {}
        for row in found:
            chosen.setdefault(row["name"], _summary_from_row(row))
        return tuple(chosen[name] for name in sorted(chosen))

    @retried_and_shielded
    async def remove(self, scope: str, name: str) -> bool:
        """Have a suite in no list any more; its versions stay for the bake-offs that used them."""
        own = (scope == _SCOPE, name == _NAME, _REMOVED.is_(False))
        removed: Any = update(SuiteRow).where(*own).values(removed=True)
        async with transaction(self._engine) as connection:
            found = await connection.execute(removed.returning(literal_column("1")))
            return bool(found.all())

    @retried_and_shielded
    async def every(self) -> tuple[StoredSuite, ...]:
        """Give every version of every suite that is in a list, each suite's oldest first.

        `load` names one that cannot be read.
        """
        query = (
            _with_bodies()
            .where(_REMOVED.is_(False))
            .order_by(by_letter(_SCOPE), by_letter(_NAME), _NTH)
        )
        async with transaction(self._readers) as connection:
            found = await fetch_rows(connection, query)
        return tuple(_readable_suites(found))


async def _keep_newest(connection: AsyncConnection, kept: StoredSuite, nth: int) -> None:
    """Have a version be the one after so many, whether the suite had it before or not."""
    line = line_of(kept)
    counts = {"questions": line.questions, "graded": line.graded}
    values = {"nth": nth + 1, "by": kept.by, "kept_at": kept.at, "removed": False}
    key = {"scope": line.scope, "name": line.name, "version": line.version}
    insert = insert_into(SuiteRow, connection.dialect.name)
    upsert = insert.values(**key, **counts, **values)
    await connection.execute(upsert.on_conflict_do_update(index_elements=[*key], set_=values))


def _with_bodies() -> Select[Any]:
    bodies: Any = col(SuiteBodyRow.version)
    columns = (_SCOPE, _NAME, _VERSION, col(SuiteRow.by), col(SuiteRow.kept_at))
    query = select(*columns, col(SuiteBodyRow.body))
    return query.join_from(SuiteRow, SuiteBodyRow, bodies == _VERSION)


def _visible_from(scope: str) -> Any:  # noqa: ANN401
    return _SCOPE.in_({scope, ""})


def _own_first(scope: str) -> tuple[Any, ...]:
    """Order a scope's own suites before the house's, and newest versions first."""
    return case((scope == _SCOPE, 0), else_=1), _NTH.desc()


def _readable_suites(found: Iterable[dict[str, Any]]) -> Iterator[StoredSuite]:
    for row in found:
        with suppress(StoreError):
            yield _suite_from_row(row)


def _suite_from_row(row: dict[str, Any]) -> StoredSuite:
    with translate_validation_errors("Suite", row["name"]):
        suite = suite_from_body(row["scope"], row["name"], row["body"])
    return StoredSuite(suite, row["by"], row["kept_at"])


def _summary_from_row(row: dict[str, Any]) -> SuiteSummary:
    return SuiteSummary(
        row["name"],
        row["scope"],
        row["version"],
        row["questions"],
        row["graded"],
        row["kept_at"],
        row["by"],
    )


# --- Bake-offs in a SQL database; their rounds are among the rounds.


class SqlBakeoffs:
    """Bake-offs as rows; the same on SQLite and Postgres."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._readers = read_only_engine(engine)

    @retried_and_shielded
    async def open(self, bakeoff: Bakeoff) -> bool:
        """Keep a new bake-off and its suite's version; False if its id is kept already."""
        async with transaction(self._engine) as connection:
            row = _bakeoff_row(bakeoff)
            if not await insert(connection, [row]):
                return await is_own_write(connection, row, ("at", "asked_by", "suite_version"))
            await insert_body(connection, bakeoff.suite)
            return True

    @retried_and_shielded
    async def end(self, bakeoff_id: str, ending: Ending | None) -> None:
        """Note a bake-off's end; None has it be gone on with."""
        await self._note(bakeoff_id, **_ending_values(ending))

    @retried_and_shielded
    async def limit(self, bakeoff_id: str, cap_micro: int | None) -> None:
        """Have a bake-off spend so much at most; None is no cap."""
        await self._note(bakeoff_id, cap_micro=cap_micro)

    async def _note(self, bakeoff_id: str, **values: Any) -> None:  # noqa: ANN401
        own: Any = update(BakeoffRow).where(col(BakeoffRow.id) == bakeoff_id).values(**values)
        async with transaction(self._engine) as connection:
            noted = await connection.execute(own.returning(literal_column("1")))
            if noted.first() is None:
                raise no_bakeoff(bakeoff_id)

    @retried_and_shielded
    async def load(self, bakeoff_id: str) -> Bakeoff:
        """Give a bake-off; BakeoffError where there is none."""
        query = _bakeoffs_with_bodies().where(col(BakeoffRow.id) == bakeoff_id)
        async with transaction(self._readers) as connection:
            found = await fetch_rows(connection, query)
        if not found:
            raise no_bakeoff(bakeoff_id)
        return _bakeoff_from_row(found[0])

    @retried_and_shielded
    async def recent(
        self, limit: int | None = None, wanted: BakeoffQuery = EVERY_BAKEOFF
    ) -> tuple[Bakeoff, ...]:
        """Give those that are wanted, newest first; `load` names one that cannot be read."""
        newest_first = (col(BakeoffRow.at).desc(), by_letter(BakeoffRow.id))
        query = (
            _bakeoffs_with_bodies().where(*_conditions(wanted)).order_by(*newest_first).limit(limit)
        )
        async with transaction(self._readers) as connection:
            found = await fetch_rows(connection, query)
        return tuple(_readable_bakeoffs(found))


def _readable_bakeoffs(found: Iterable[dict[str, Any]]) -> Iterator[Bakeoff]:
    for row in found:
        with suppress(StoreError):
            yield _bakeoff_from_row(row)


def _conditions(wanted: BakeoffQuery) -> Iterator[Any]:
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


def _bakeoffs_with_bodies() -> Select[Any]:
    version: Any = col(SuiteBodyRow.version)
    query = select(BakeoffRow, col(SuiteBodyRow.body))
    same = version == col(BakeoffRow.suite_version)
    return query.join_from(BakeoffRow, SuiteBodyRow, same, isouter=True)


def _bakeoff_row(bakeoff: Bakeoff) -> BakeoffRow:
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


def _bakeoff_from_row(found: dict[str, Any]) -> Bakeoff:
    """Give the bake-off a row holds; StoreError naming the field that none can hold."""
    row = BakeoffRow(**{key: value for key, value in found.items() if key != "body"})
    with translate_validation_errors("Bake-off", row.id):
        return Bakeoff(
            id=row.id,
            suite=suite_from_body(row.suite_scope, row.suite, found["body"]),
            panel=validate("bakeoff.panel", PANEL.validate_python, row.panel),
            place=place_from_row(row),
            asked_by=row.asked_by,
            at=row.at,
            cap_micro=row.cap_micro,
            schedule=row.schedule,
            ending=Ending(row.ended_at, row.failure) if row.ended_at else None,
        )


# --- Schedules in a SQL database.

_ID: Any = col(ScheduleRow.id)
_SCHEDULE_SCOPE: Any = col(ScheduleRow.scope)
_LAST_SLOT: Any = col(ScheduleRow.last_slot)


class SqlSchedules:
    """Schedules as rows; of those who would take a slot at once, one has it."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._readers = read_only_engine(engine)

    @retried_and_shielded
    async def keep(self, schedule: Schedule) -> None:
        """Keep a new schedule, or a changed one under its id; ScheduleError for a taken name."""
        async with transaction(self._engine) as connection:
            try:
                await connection.execute(upsert_schedule(schedule, connection.dialect.name))
            except IntegrityError:  # the one key beside the id
                raise name_taken(schedule.name) from None

    @retried_and_shielded
    async def take(self, schedule_id: str, slot: str) -> bool:
        """Take a slot; False where it, or a later one, was taken before, by whatever process."""
        open_ = (schedule_id == _ID, slot > by_letter(_LAST_SLOT))
        taken: Any = update(ScheduleRow).where(*open_).values(last_slot=slot)
        async with transaction(self._engine) as connection:
            found = await connection.execute(taken.returning(literal_column("1")))
            return found.first() is not None or await _was_taken(connection, schedule_id, slot)

    @retried_and_shielded
    async def every(self, scope: str | None = None) -> tuple[Schedule, ...]:
        """Give the schedules of a scope, or all, by name."""
        query = select(ScheduleRow).order_by(
            by_letter(ScheduleRow.name), by_letter(_SCHEDULE_SCOPE)
        )
        if scope is not None:
            query = query.where(scope == _SCHEDULE_SCOPE)
        async with transaction(self._readers) as connection:
            return tuple(map(_schedule_from_row, await fetch_rows(connection, query)))

    @retried_and_shielded
    async def remove(self, schedule_id: str) -> bool:
        """Have a schedule no more; its bake-offs stay."""
        gone: Any = delete(ScheduleRow).where(schedule_id == _ID).returning(literal_column("1"))
        async with transaction(self._engine) as connection:
            return (await connection.execute(gone)).first() is not None


async def _was_taken(connection: AsyncConnection, schedule_id: str, slot: str) -> bool:
    """Say whether the slot was taken by a try of this act that was lost."""
    own = select(_LAST_SLOT).where(schedule_id == _ID)
    return current_attempt().is_retry and (await connection.execute(own)).scalar() == slot


def upsert_schedule(schedule: Schedule, dialect: str) -> Any:  # noqa: ANN401
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


def _schedule_from_row(found: dict[str, Any]) -> Schedule:
    row = ScheduleRow(**found)
    return Schedule(
        id=row.id,
        name=row.name,
        suite=row.suite,
        panel=row.panel,
        cron=row.cron,
        zone=row.zone,
        words=row.words,
        place=place_from_row(row),
        made_by=row.made_by,
        made_at=row.made_at,
        scope=row.scope,
        paused=row.paused,
        cap_micro=row.cap_micro,
        last_slot=row.last_slot,
        subscribers=tuple(row.subscribers),
    )
