"""Builders of suites, bake-offs and records for store tests."""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.plugins import Parts
from council.bakeoffs.models import Bakeoff, Grading, Reference, Suite, SuiteQuestion
from council.bakeoffs.ports import BakeoffStores
from council.bakeoffs.records import VERSION, PackedRecord
from council.ports import OutboxStore, Store
from storage.bakeoffs.bakeoffs import SqlBakeoffs, SqlSchedules, SqlSuites
from storage.bakeoffs.records import SqlRecords, sql_votes
from tests.builders import ASKED_AT, a_panel
from tests.storage.builders import T1

GRADED = SuiteQuestion("What is 6 × 7?", "sums", Reference(Grading.NUMBER, "42", 0.5), "A context.")
OPEN = SuiteQuestion("Is Postgres enough?")
SUITE = Suite("sql", (GRADED, OPEN), judges_see_references=True, scope=T1.scope)


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of rounds, bake-offs and outgoing messages, all of one kind."""

    store: Store
    bakeoff_stores: BakeoffStores
    outgoing: OutboxStore

    @property
    def parts(self) -> Parts:
        """The stores of bake-offs, as an application has them."""
        return Parts(self.bakeoff_stores)


def sql_bakeoff_stores(engine: AsyncEngine) -> BakeoffStores:
    return BakeoffStores(
        SqlSuites(engine),
        SqlBakeoffs(engine),
        SqlSchedules(engine),
        SqlRecords(engine),
        sql_votes(engine),
    )


def suite_of(*texts: str, name: str = "sql", scope: str = T1.scope) -> Suite:
    """Return a suite of questions without references."""
    return Suite(name, tuple(map(SuiteQuestion, texts)), scope=scope)


def a_bakeoff(bakeoff_id: str = "bo:1", **fields: Any) -> Bakeoff:  # noqa: ANN401
    return replace(Bakeoff(bakeoff_id, SUITE, a_panel(), T1, "U1", ASKED_AT), **fields)


def a_record(round_id: str = "r1", **fields: Any) -> PackedRecord:  # noqa: ANN401
    own = PackedRecord(
        round_id=round_id,
        asked_at=ASKED_AT,
        panel="house",
        scope=T1.scope,
        bakeoff="bo:1",
        number=3,
        suite="sql",
        suite_version=SUITE.version,
        category="sums",
        shape='[["a","b"],["a","b"]]',
        numbers=b"\x00\x01\xff",
        version=VERSION,
    )
    return own._replace(**fields)
