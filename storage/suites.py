"""Suites in a SQL database: a row for each version a suite had."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

from sqlalchemy import Select, case, func, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import col

from council.bakeoffs.models import Suite
from council.bakeoffs.ports import KeptSuite, SuiteLine
from council.errors import StoreError
from storage.acts import insert_into, rows_of, transaction
from storage.agreed import line_of, no_suite
from storage.bench_rows import SuiteBodyRow, SuiteRow
from storage.bodies import keep_body, suite_from
from storage.database import for_reading
from storage.finishing import finished
from storage.locks import Lock, wait_in_line
from storage.ordering import by_letter
from storage.valid import told_by_field

_SCOPE: Any = col(SuiteRow.scope)
_NAME: Any = col(SuiteRow.name)
_VERSION: Any = col(SuiteRow.version)
_NTH: Any = col(SuiteRow.nth)
_REMOVED: Any = col(SuiteRow.removed)


class SqlSuites:
    """Suites as rows; the same on SQLite and Postgres."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._readers = for_reading(engine)

    @finished
    async def keep(self, suite: Suite, by: str, at: datetime) -> bool:
        """Have this be the newest version of a scope's suite; False if it was already."""
        own = (suite.scope == _SCOPE, suite.name == _NAME)
        async with transaction(self._engine) as connection:
            await wait_in_line(connection, Lock.SUITES)
            newest = (
                await connection.execute(
                    select(_VERSION, _NTH, _REMOVED).where(*own).order_by(_NTH.desc()).limit(1)
                )
            ).one_or_none()
            if newest and newest.version == suite.version and not newest.removed:
                return False
            await keep_body(connection, suite)
            await _keep_newest(connection, KeptSuite(suite, by, at), newest.nth if newest else 0)
            await connection.execute(update(SuiteRow).where(*own).values(removed=False))
            return True

    @finished
    async def load(self, scope: str, name: str, version: str = "") -> Suite:
        """Give a version, the newest without one; SuiteError where there is none."""
        # LIKE would take capitals for small letters on SQLite, and on Postgres not.
        begins = func.substr(_VERSION, 1, len(version)) == version
        meant = begins if version else _REMOVED.is_(False)
        query = _with_bodies().where(_seen_from(scope), name == _NAME, meant)
        async with transaction(self._readers) as connection:
            found = await rows_of(connection, query.order_by(*_own_first(scope)).limit(1))
        if not found:
            raise no_suite(name, version)
        return _kept_from(found[0]).suite

    @finished
    async def versions(self, scope: str, name: str) -> tuple[str, ...]:
        """Give the versions of a suite, newest first."""
        query = select(_SCOPE, _VERSION).where(_seen_from(scope), name == _NAME)
        async with transaction(self._readers) as connection:
            found = (await connection.execute(query.order_by(*_own_first(scope)))).all()
        return tuple(row.version for row in found if row.scope == found[0].scope)

    @finished
    async def lines(self, scope: str) -> tuple[SuiteLine, ...]:
        """Give what a workspace can choose from: its own suites and the house's, by name."""
        query = select(SuiteRow).where(_seen_from(scope), _REMOVED.is_(False))
        async with transaction(self._readers) as connection:
            found = await rows_of(connection, query.order_by(*_own_first(scope)))
        chosen: dict[str, SuiteLine] = {}
        for row in found:
            chosen.setdefault(row["name"], _line_from(row))
        return tuple(chosen[name] for name in sorted(chosen))

    @finished
    async def remove(self, scope: str, name: str) -> bool:
        """Have a suite in no list any more; its versions stay for the bake-offs that used them."""
        own = (scope == _SCOPE, name == _NAME, _REMOVED.is_(False))
        removed: Any = update(SuiteRow).where(*own).values(removed=True)
        async with transaction(self._engine) as connection:
            found = await connection.execute(removed.returning(literal_column("1")))
            return bool(found.all())

    @finished
    async def every(self) -> tuple[KeptSuite, ...]:
        """Give every version of every suite that is in a list, each suite's oldest first.

        `load` names one that cannot be read.
        """
        query = (
            _with_bodies()
            .where(_REMOVED.is_(False))
            .order_by(by_letter(_SCOPE), by_letter(_NAME), _NTH)
        )
        async with transaction(self._readers) as connection:
            found = await rows_of(connection, query)
        return tuple(_readable(found))


async def _keep_newest(connection: AsyncConnection, kept: KeptSuite, nth: int) -> None:
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


def _seen_from(scope: str) -> Any:  # noqa: ANN401
    return _SCOPE.in_({scope, ""})


def _own_first(scope: str) -> tuple[Any, ...]:
    """Order a scope's own suites before the house's, and newest versions first."""
    return case((scope == _SCOPE, 0), else_=1), _NTH.desc()


def _readable(found: Iterable[dict[str, Any]]) -> Iterator[KeptSuite]:
    for row in found:
        with suppress(StoreError):
            yield _kept_from(row)


def _kept_from(row: dict[str, Any]) -> KeptSuite:
    with told_by_field("Suite", row["name"]):
        suite = suite_from(row["scope"], row["name"], row["body"])
    return KeptSuite(suite, row["by"], row["kept_at"])


def _line_from(row: dict[str, Any]) -> SuiteLine:
    return SuiteLine(
        row["name"],
        row["scope"],
        row["version"],
        row["questions"],
        row["graded"],
        row["kept_at"],
        row["by"],
    )
