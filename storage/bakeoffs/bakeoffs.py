"""Stores of suites, bake-offs and schedules in a SQL database."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Select, case, delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.bakeoffs.models import Bakeoff, Ending, Schedule, Suite
from council.bakeoffs.ports import ALL_BAKEOFFS, BakeoffQuery, StoredSuite, SuiteSummary
from council.errors import BakeoffError, ScheduleError, SuiteError
from council.places import Place
from storage.bakeoffs.tables import BakeoffRow, ExperimentRow, ScheduleRow, SuiteBodyRow, SuiteRow
from storage.engine import SqlStore
from storage.row_mapping import (
    PANEL,
    from_row,
    skip_invalid,
    translate_validation_errors,
    validate,
)
from storage.tables import by_letter, starts_with
from storage.transactions import (
    Lock,
    current_attempt,
    insert,
    insert_into,
    is_own_write,
    lock_exclusive,
    lock_shared,
    retried_and_shielded,
)

SUITE = TypeAdapter(Suite)
BODY_FIELDS = {"questions", "judges_see_references", "method"}

_SCOPE: Any = col(SuiteRow.scope)
_NAME: Any = col(SuiteRow.name)
_VERSION: Any = col(SuiteRow.version)
_NTH: Any = col(SuiteRow.nth)
_REMOVED: Any = col(SuiteRow.removed)
_SCHEDULE_ID: Any = col(ScheduleRow.id)
_SCHEDULE_SCOPE: Any = col(ScheduleRow.scope)
_LAST_SLOT: Any = col(ScheduleRow.last_slot)


class SqlSuites(SqlStore):
    """The suite store: a row for each version of a suite."""

    @retried_and_shielded
    async def save(self, suite: Suite, by: str, at: datetime) -> bool:
        """Store a suite as the newest version; return False if it is the newest already."""
        same_name = (suite.scope == _SCOPE, suite.name == _NAME)
        async with self._write() as connection:
            await lock_exclusive(connection, Lock.SUITES)
            query = (
                select(_VERSION, _NTH, _REMOVED).where(*same_name).order_by(_NTH.desc()).limit(1)
            )
            newest = (await connection.execute(query)).one_or_none()
            if newest and newest.version == suite.version and not newest.removed:
                return False
            await insert_body(connection, suite)
            # The version becomes the newest, whether or not the suite had it before.
            key = {"scope": suite.scope, "name": suite.name, "version": suite.version}
            changed = {"nth": newest.nth + 1 if newest else 1, "by": by, "kept_at": at}
            summary = suite_summary(StoredSuite(suite, by, at))
            counts = {"questions": summary.questions, "graded": summary.graded}
            insert = insert_into(SuiteRow, connection.dialect.name)
            upsert = insert.values(**key, **counts, **changed, removed=False)
            await connection.execute(
                upsert.on_conflict_do_update(index_elements=[*key], set_=changed)
            )
            await connection.execute(update(SuiteRow).where(*same_name).values(removed=False))
            return True

    @retried_and_shielded
    async def load(self, scope: str, name: str, version: str = "") -> Suite:
        """Return the version that begins with `version`, or the newest; raise SuiteError."""
        condition = starts_with(_VERSION, version) if version else _REMOVED.is_(False)
        query = _with_bodies().where(_visible_from(scope), name == _NAME, condition)
        rows = await self._fetch(query.order_by(*_own_first(scope)).limit(1))
        if not rows:
            raise suite_not_found(name, version)
        return _suite_from_row(rows[0]).suite

    @retried_and_shielded
    async def versions(self, scope: str, name: str) -> tuple[str, ...]:
        """Return the versions of a suite, newest first."""
        query = select(_SCOPE, _VERSION).where(_visible_from(scope), name == _NAME)
        async with self._read() as connection:
            rows = (await connection.execute(query.order_by(*_own_first(scope)))).all()
        return tuple(row.version for row in rows if row.scope == rows[0].scope)

    @retried_and_shielded
    async def list_summaries(self, scope: str) -> tuple[SuiteSummary, ...]:
        """Return the suites a workspace can use, its own and the shared ones, sorted by name."""
        query = select(SuiteRow).where(_visible_from(scope), _REMOVED.is_(False))
        rows = await self._fetch(query.order_by(*_own_first(scope)))
        chosen: dict[str, SuiteSummary] = {}
        for row in rows:
            chosen.setdefault(row["name"], from_row(SuiteSummary, SuiteRow(**row)))
        return tuple(chosen[name] for name in sorted(chosen))

    @retried_and_shielded
    async def remove(self, scope: str, name: str) -> bool:
        """Hide a suite; its versions remain for the bake-offs that used them."""
        is_kept = (scope == _SCOPE, name == _NAME, _REMOVED.is_(False))
        return await self._execute(update(SuiteRow).where(*is_kept).values(removed=True))

    @retried_and_shielded
    async def list_all(self) -> tuple[StoredSuite, ...]:
        """Return all versions of all visible suites, each suite's oldest first.

        Leave out those that cannot be read; `load` raises their errors.
        """
        in_order = (by_letter(_SCOPE), by_letter(_NAME), _NTH)
        query = _with_bodies().where(_REMOVED.is_(False)).order_by(*in_order)
        return tuple(skip_invalid(_suite_from_row, await self._fetch(query)))


def _with_bodies() -> Select[Any]:
    bodies: Any = col(SuiteBodyRow.version)
    columns = (_SCOPE, _NAME, _VERSION, col(SuiteRow.by), col(SuiteRow.kept_at))
    query = select(*columns, col(SuiteBodyRow.body))
    return query.join_from(SuiteRow, SuiteBodyRow, bodies == _VERSION)


def _visible_from(scope: str) -> Any:  # noqa: ANN401
    return _SCOPE.in_({scope, ""})


def _own_first(scope: str) -> tuple[Any, ...]:
    """Return the order: a scope's own suites before the shared ones, newest versions first."""
    return case((scope == _SCOPE, 0), else_=1), _NTH.desc()


def _suite_from_row(row: dict[str, Any]) -> StoredSuite:
    with translate_validation_errors("Suite", row["name"]):
        suite = suite_from_body(row["scope"], row["name"], row["body"])
    return StoredSuite(suite, row["by"], row["kept_at"])


class SqlBakeoffs(SqlStore):
    """The bake-off store; the rounds of a bake-off are in the round store."""

    @retried_and_shielded
    async def open(self, bakeoff: Bakeoff) -> bool:
        """Store a new bake-off with its suite's content; return False if its id is taken."""
        async with self._write() as connection:
            row = _bakeoff_row(bakeoff)
            if not await insert(connection, [row]):
                return await is_own_write(connection, row, ("at", "asked_by", "suite_version"))
            await insert_body(connection, bakeoff.suite)
            return True

    @retried_and_shielded
    async def end(self, bakeoff_id: str, ending: Ending | None) -> None:
        """Store the end of a bake-off; None resumes it. Raise BakeoffError."""
        await self._update(bakeoff_id, **_ending_columns(ending))

    @retried_and_shielded
    async def limit(self, bakeoff_id: str, cap_micro: int | None) -> None:
        """Set the spending cap of a bake-off; None removes it. Raise BakeoffError."""
        await self._update(bakeoff_id, cap_micro=cap_micro)

    async def _update(self, bakeoff_id: str, **values: Any) -> None:  # noqa: ANN401
        statement = update(BakeoffRow).where(col(BakeoffRow.id) == bakeoff_id).values(**values)
        if not await self._execute(statement):
            raise bakeoff_not_found(bakeoff_id)

    @retried_and_shielded
    async def load(self, bakeoff_id: str) -> Bakeoff:
        """Return a bake-off; raise BakeoffError for an unknown one."""
        query = with_bodies(BakeoffRow).where(col(BakeoffRow.id) == bakeoff_id)
        rows = await self._fetch(query)
        if not rows:
            raise bakeoff_not_found(bakeoff_id)
        return _bakeoff_from_row(rows[0])

    @retried_and_shielded
    async def list_recent(
        self, limit: int | None = None, wanted: BakeoffQuery = ALL_BAKEOFFS
    ) -> tuple[Bakeoff, ...]:
        """Return the wanted bake-offs, newest first, without those that cannot be read."""
        newest_first = (col(BakeoffRow.at).desc(), by_letter(BakeoffRow.id))
        query = with_bodies(BakeoffRow).where(*_conditions(wanted)).order_by(*newest_first)
        return tuple(skip_invalid(_bakeoff_from_row, await self._fetch(query.limit(limit))))


def _conditions(query: BakeoffQuery) -> Iterator[Any]:
    if query.scope is not None:
        yield col(BakeoffRow.scope) == query.scope
    columns = {"suite": BakeoffRow.suite, "panel": BakeoffRow.panel_name}
    for name, column in (columns | {"schedule": BakeoffRow.schedule}).items():
        if value := getattr(query, name):
            yield col(column) == value
    if query.unfinished:
        yield col(BakeoffRow.ended_at).is_(None)
    if query.before:
        yield col(BakeoffRow.at) < query.before


def with_bodies(table: type[Any]) -> Select[Any]:
    """Return the query for the rows of a table, each with the content of its suite."""
    version: Any = col(SuiteBodyRow.version)
    query = select(table, col(SuiteBodyRow.body))
    return query.join_from(table, SuiteBodyRow, version == col(table.suite_version), isouter=True)


def run_columns(run: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the columns that bake-offs and experiments have in common."""
    return {
        "id": run.id,
        "suite": run.suite.name,
        "suite_scope": run.suite.scope,
        "suite_version": run.suite.version,
        "panel": PANEL.dump_python(run.panel, mode="json"),
        "asked_by": run.asked_by,
        "at": run.at,
        "cap_micro": run.cap_micro,
    }


def suite_and_panel(row: BakeoffRow | ExperimentRow, body: object) -> dict[str, Any]:
    """Return the suite and the panel of a row; raise ValueError with the name of a bad field."""
    name = f"{row.__tablename__}.panel"
    panel = validate(name, PANEL.validate_python, row.panel)
    return {"suite": suite_from_body(row.suite_scope, row.suite, body), "panel": panel}


def _bakeoff_row(bakeoff: Bakeoff) -> BakeoffRow:
    return BakeoffRow(
        **run_columns(bakeoff),
        panel_name=bakeoff.panel.name,
        scope=bakeoff.place.scope,
        schedule=bakeoff.schedule,
        **asdict(bakeoff.place),
        **_ending_columns(bakeoff.ending),
    )


def _ending_columns(ending: Ending | None) -> dict[str, Any]:
    at, failure = (ending.at, ending.failure) if ending else (None, None)
    return {"ended_at": at, "failure": failure}


def _bakeoff_from_row(values: dict[str, Any]) -> Bakeoff:
    """Return a bake-off from its row; raise StoreError with the name of an invalid field."""
    body = values.pop("body")
    row = BakeoffRow(**values)
    with translate_validation_errors("Bake-off", row.id):
        return from_row(
            Bakeoff,
            row,
            place=from_row(Place, row),
            ending=Ending(row.ended_at, row.failure) if row.ended_at else None,
            **suite_and_panel(row, body),
        )


class SqlSchedules(SqlStore):
    """The schedule store; each slot of a schedule is taken once, by one process."""

    @retried_and_shielded
    async def save(self, schedule: Schedule) -> None:
        """Store a new or changed schedule; raise ScheduleError for a taken name."""
        async with self._write() as connection:
            try:
                await connection.execute(_upsert_schedule(schedule, connection.dialect.name))
            except IntegrityError:  # the only other unique key is the name
                raise schedule_name_taken(schedule.name) from None

    @retried_and_shielded
    async def claim_slot(self, schedule_id: str, slot: str) -> bool:
        """Take a slot; return False if any process has taken it or a later one."""
        is_open = (schedule_id == _SCHEDULE_ID, slot > by_letter(_LAST_SLOT))
        if await self._execute(update(ScheduleRow).where(*is_open).values(last_slot=slot)):
            return True
        # An earlier attempt of this operation may have taken it.
        last_slot = select(_LAST_SLOT).where(schedule_id == _SCHEDULE_ID)
        return current_attempt().is_retry and await self._fetch_value(last_slot) == slot

    @retried_and_shielded
    async def list_all(self, scope: str | None = None) -> tuple[Schedule, ...]:
        """Return the schedules of a scope, or all, sorted by name."""
        query = select(ScheduleRow).order_by(
            by_letter(ScheduleRow.name), by_letter(_SCHEDULE_SCOPE)
        )
        if scope is not None:
            query = query.where(scope == _SCHEDULE_SCOPE)
        return tuple(map(_schedule_from_row, await self._fetch(query)))

    @retried_and_shielded
    async def remove(self, schedule_id: str) -> bool:
        """Delete a schedule; its bake-offs remain."""
        return await self._execute(delete(ScheduleRow).where(schedule_id == _SCHEDULE_ID))


def _upsert_schedule(schedule: Schedule, dialect: str) -> Any:  # noqa: ANN401
    """Return the upsert of a schedule; in the same zone, the last slot never goes back."""
    insert = insert_into(ScheduleRow, dialect)
    values = {**asdict(schedule), "subscribers": [*schedule.subscribers]}
    values |= values.pop("place")
    upsert = insert.values(**values)
    new = upsert.excluded
    later_slot = case((by_letter(new.last_slot) < _LAST_SLOT, _LAST_SLOT), else_=new.last_slot)
    slot = case((col(ScheduleRow.zone) == new.zone, later_slot), else_=new.last_slot)
    changed = {name: new[name] for name in values if name != "id"} | {"last_slot": slot}
    return upsert.on_conflict_do_update(index_elements=["id"], set_=changed)


def _schedule_from_row(values: dict[str, Any]) -> Schedule:
    row = ScheduleRow(**values)
    subscribers = tuple(row.subscribers)
    return from_row(Schedule, row, place=from_row(Place, row), subscribers=subscribers)


# --- Contents of suites: one row for each version, shared by all that have it


async def insert_body(connection: AsyncConnection, suite: Suite) -> None:
    """Store the content of a suite unless its version is stored already."""
    await lock_shared(connection, Lock.SHARED_ROWS)
    body = SUITE.dump_python(suite, mode="json", include=BODY_FIELDS)
    await insert(connection, [SuiteBodyRow(version=suite.version, body=body)])


def suite_from_body(scope: str, name: str, body: object) -> Suite:
    """Return a suite from its stored content; raise ValueError if it is invalid."""
    content = body if isinstance(body, dict) else {}
    suite = {**content, "name": name, "scope": scope}
    return validate("suite_body.body", SUITE.validate_python, suite)


async def delete_unused_bodies(connection: AsyncConnection) -> None:
    """Delete the contents that no suite, bake-off or experiment has."""
    version: Any = col(SuiteBodyRow.version)
    used = (SuiteRow.version, BakeoffRow.suite_version, ExperimentRow.suite_version)
    is_unused = [version.not_in(select(col(column))) for column in used]
    await connection.execute(delete(SuiteBodyRow).where(*is_unused))


def suite_summary(stored: StoredSuite) -> SuiteSummary:
    """Return the summary of a stored suite."""
    suite = stored.suite
    return SuiteSummary(
        name=suite.name,
        scope=suite.scope,
        version=suite.version,
        questions=len(suite.questions),
        graded=sum(question.is_graded for question in suite.questions),
        kept_at=stored.at,
        by=stored.by,
    )


def suite_not_found(name: str, version: str = "") -> SuiteError:
    """Return the error for an unknown suite or version."""
    which = f"version {version!r} of suite {name!r}" if version else f"suite {name!r}"
    return SuiteError(f"There is no {which}. `/council suite list` lists them.")


def bakeoff_not_found(bakeoff_id: str) -> BakeoffError:
    """Return the error for an unknown bake-off."""
    return BakeoffError(f"There is no bake-off {bakeoff_id!r}. `/council bakeoff list` lists them.")


def schedule_name_taken(name: str) -> ScheduleError:
    """Return the error for a schedule's name that is taken."""
    return ScheduleError(f"There is already a schedule {name!r}. Choose another name.")
