"""What suites hold, as rows: one for each version, whatever suites and bake-offs have it."""

from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from council.bakeoffs.models import Suite
from storage.acts import insert
from storage.bench_rows import BakeoffRow, SuiteBodyRow, SuiteRow
from storage.experiment_rows import ExperimentRow
from storage.locks import Lock, wait_for_those_alone
from storage.valid import valid

SUITE = TypeAdapter(Suite)
HELD = {"questions", "judges_see_references"}


async def keep_body(connection: AsyncConnection, suite: Suite) -> None:
    """Keep what a suite holds, once for each version."""
    await wait_for_those_alone(connection, Lock.SHARED_ROWS)
    body = SUITE.dump_python(suite, mode="json", include=HELD)
    await insert(connection, [SuiteBodyRow(version=suite.version, body=body)])


def suite_from(scope: str, name: str, body: Any) -> Suite:  # noqa: ANN401
    """Give the suite of a scope that goes by a name and holds this; ValueError if none can."""
    held = body if isinstance(body, dict) else {}
    return valid("suite_body.body", SUITE.validate_python, {**held, "name": name, "scope": scope})


async def drop_bodies(connection: AsyncConnection) -> None:
    """Delete what no suite, no bake-off and no experiment holds any more."""
    version: Any = col(SuiteBodyRow.version)
    held = (
        select(col(SuiteRow.version)),
        select(col(BakeoffRow.suite_version)),
        select(col(ExperimentRow.suite_version)),
    )
    unheld = [version.not_in(versions) for versions in held]
    await connection.execute(delete(SuiteBodyRow).where(*unheld))
