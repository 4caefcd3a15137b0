"""The queries and the tables are valid on Postgres too."""

from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from sqlalchemy import ClauseElement, Insert, Table, event, make_url
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import SQLModel

from council.bakeoffs.models import Ending
from council.bakeoffs.ports import BakeoffQuery, BakeoffStores, RecordQuery
from council.budget_caps import Account, Caps
from council.errors import StoreError
from council.ports import RoundQuery
from council.rounds import Closing
from storage.bakeoff_tables import BakeoffRow, SourceRow, SuiteBodyRow
from storage.bakeoffs import upsert_schedule
from storage.engine import open_engine
from storage.ledger import SqlLedger
from storage.rounds import SqlRoundStore
from storage.row_mapping import PART_TABLES
from storage.tables import RoundRow, SpendingRow
from storage.transactions import insert_once
from tests.builders import ASKED_AT, a_schedule, an_answer
from tests.storage.benches import SUITE, a_bakeoff, sql_bakeoff_stores
from tests.storage.builders import a_closed_round, store_round

POSTGRES = make_url("postgresql://").get_dialect()()
TABLES = RoundRow.metadata.tables
ONE = Account("r1", date(2026, 11, 21), "U1")


def on_postgres(clause: ClauseElement) -> str:
    return " ".join(str(clause.compile(dialect=POSTGRES)).split())


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_documents_and_moments_have_types_of_postgres_own(table: Table) -> None:
    declared = on_postgres(CreateTable(table))

    kinds = [type(column.type).__name__ for column in table.columns]
    assert declared.count(" JSONB") == kinds.count("Json")
    assert declared.count(" TIMESTAMP WITH TIME ZONE") == kinds.count("UtcDateTime")


@pytest.mark.parametrize(
    "table",
    [RoundRow, SpendingRow, BakeoffRow, SuiteBodyRow, SourceRow, *PART_TABLES],
    ids=lambda table: str(table.__tablename__),
)
def test_a_taken_key_is_passed_over(table: type[SQLModel]) -> None:
    statement = on_postgres(insert_once(table, "postgresql"))

    assert statement.startswith("INSERT INTO")
    assert statement.endswith("ON CONFLICT DO NOTHING RETURNING 1")


@pytest.mark.parametrize(
    ("act", "words"),
    [
        pytest.param(lambda s: s.save("open", Closing(9.0)), "SET seconds=", id="close"),
        pytest.param(
            lambda s: s.save("open", Closing(9.0)), "ORDER BY link.number DESC", id="close-links"
        ),
        pytest.param(lambda s: s.seal("r1"), "WHERE link.round_id = ", id="seal"),
        pytest.param(lambda s: s.load("r1"), "FROM synthesis", id="load"),
        pytest.param(lambda s: s.find("r"), "substr(round.id, ", id="find"),
        pytest.param(lambda s: s.list_summaries(3), "ORDER BY round.asked_at DESC", id="recent"),
        pytest.param(
            lambda s: s.list_summaries(3, RoundQuery("50%")),
            "lower(round.question) LIKE '%%' || ",
            id="containing",
        ),
        pytest.param(lambda s: s.list_summaries(3, RoundQuery("50%")), "ESCAPE '/'", id="escaped"),
        pytest.param(
            lambda s: s.list_summaries(3, RoundQuery(chats=("web",))), "round.chat IN (", id="chats"
        ),
        pytest.param(
            lambda s: s.list_summaries(3, RoundQuery(asker="web:1")),
            "round.private OR round.asked_by = ",
            id="asker",
        ),
        pytest.param(
            lambda s: s.list_summaries(3, RoundQuery(unfinished=True)),
            "round.seconds IS NULL",
            id="unfinished",
        ),
        pytest.param(lambda s: s.load_past_ballots("house"), "ballot.round_id IN (", id="past"),
        pytest.param(lambda s: s.delete_workspace("slack", "T1"), "DELETE FROM round", id="drop"),
        pytest.param(
            lambda s: s.list_summaries(3, RoundQuery(undelivered=True)),
            "NOT round.delivered",
            id="undelivered",
        ),
        pytest.param(lambda s: s.ids(3), 'ORDER BY round.asked_at, round.id COLLATE "C"', id="ids"),
        pytest.param(lambda s: s.forget("r1", ASKED_AT, "s"), "FOR UPDATE", id="forget-locks"),
        pytest.param(lambda s: s.forget("r1", ASKED_AT, "s"), "DELETE FROM answer", id="forget"),
        pytest.param(lambda s: s.save("open", an_answer()), "FOR SHARE", id="save-waits"),
        pytest.param(lambda s: s.save("open", Closing(9.0)), "FOR UPDATE", id="close-waits"),
    ],
)
async def test_what_is_asked_of_one_is_asked_of_the_other(
    engine: AsyncEngine, act: Callable[[SqlRoundStore], Coroutine[Any, Any, object]], words: str
) -> None:
    asked: list[str] = []
    await store_round(SqlRoundStore(engine), a_closed_round())
    await store_round(SqlRoundStore(engine), replace(a_closed_round("open"), closing=None))

    def note(_: object, clause: ClauseElement, *__: object) -> None:
        if not isinstance(clause, Insert):  # each database has its own
            asked.append(on_postgres(clause))

    event.listen(engine.sync_engine, "before_execute", note)
    await act(SqlRoundStore(engine))

    assert any(words in statement for statement in asked)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        pytest.param(lambda m: m.reserve(ONE, 5, Caps(day=9)), "SET reserved_micro=", id="reserve"),
        pytest.param(lambda m: m.extend(ONE, 7, Caps(day=9)), "sum(CASE WHEN", id="extend"),
        pytest.param(lambda m: m.settle(ONE, 5), "SET spent_micro=(spending.spent", id="settle"),
        pytest.param(lambda m: m.release("r1"), "SET reserved_micro=", id="free"),
        pytest.param(
            lambda m: m.list_reserved_rounds(), "SELECT DISTINCT spending.round_id", id="held"
        ),
        pytest.param(lambda m: m.usage(ONE), "spending.day < ", id="used"),
    ],
)
async def test_what_is_asked_of_one_ledger_is_asked_of_the_other(
    engine: AsyncEngine, act: Callable[[SqlLedger], Coroutine[Any, Any, object]], words: str
) -> None:
    asked: list[str] = []

    def note(_: object, clause: ClauseElement, *__: object) -> None:
        # An insert is made for the dialect at hand, and has its own test above.
        if not isinstance(clause, Insert):
            asked.append(on_postgres(clause))

    event.listen(engine.sync_engine, "before_execute", note)
    await act(SqlLedger(engine))

    assert any(words in statement for statement in asked)


def test_places_are_added_without_a_rewrite_of_what_is_stored() -> None:
    columns = {column.name: column for column in TABLES["round"].columns}

    added = on_postgres(CreateTable(TABLES["round"]))
    assert "private BOOLEAN DEFAULT false NOT NULL" in added
    assert [columns[name].nullable for name in ("chat", "thread", "private")] == [
        False,
        True,
        False,
    ]


def test_a_driver_that_is_missing_is_named() -> None:
    with pytest.raises(StoreError, match="needs the Python package 'asyncpg': install it"):
        open_engine("postgresql+asyncpg://localhost/council")


@pytest.mark.parametrize(
    ("act", "words"),
    [
        pytest.param(
            lambda b: b.suites.save(SUITE, "U1", ASKED_AT), "ORDER BY suite.nth", id="keep"
        ),
        pytest.param(
            lambda b: b.suites.load("slack/T1", "sql", SUITE.version),
            "substr(suite.version, ",
            id="load-version",
        ),
        pytest.param(
            lambda b: b.suites.load("slack/T1", "sql"), "suite.removed IS false", id="load-newest"
        ),
        pytest.param(lambda b: b.suites.remove("slack/T1", "sql"), "RETURNING 1", id="remove"),
        pytest.param(lambda b: b.bakeoffs.end("bo:1", Ending(ASKED_AT)), "SET ended_at=", id="end"),
        pytest.param(
            lambda b: b.bakeoffs.list_recent(3, BakeoffQuery(unfinished=True)),
            "bakeoff.ended_at IS NULL",
            id="unfinished",
        ),
        pytest.param(
            lambda b: b.schedules.claim_slot("s1", "2026-11-23T09:00"),
            'AND schedule.last_slot COLLATE "C" < ',
            id="take",
        ),
        pytest.param(
            lambda b: b.records.list_missing(3),
            "LEFT OUTER JOIN record ON round.id = record.round_id AND record.version = ",
            id="missing",
        ),
        pytest.param(
            lambda b: b.records.list_recent(RecordQuery(suite="sql")),
            "ORDER BY record.asked_micro, record.round_id",
            id="records",
        ),
    ],
)
async def test_what_is_asked_of_one_bench_is_asked_of_the_other(
    engine: AsyncEngine, act: Callable[[BakeoffStores], Coroutine[Any, Any, object]], words: str
) -> None:
    asked: list[str] = []
    bakeoff_stores = sql_bakeoff_stores(engine)
    await bakeoff_stores.suites.save(SUITE, "U1", ASKED_AT)
    await bakeoff_stores.bakeoffs.open(a_bakeoff())

    def note(_: object, clause: ClauseElement, *__: object) -> None:
        if not isinstance(clause, Insert):
            asked.append(on_postgres(clause))

    event.listen(engine.sync_engine, "before_execute", note)
    await act(bakeoff_stores)

    assert any(words in statement for statement in asked)


def test_a_changed_schedule_gives_back_no_slot_there_either() -> None:
    statement = on_postgres(upsert_schedule(a_schedule(), "postgresql"))

    assert "ON CONFLICT (id) DO UPDATE SET" in statement
    assert "last_slot = CASE WHEN (schedule.zone = excluded.zone) THEN CASE WHEN" in statement


def test_only_closed_rounds_are_in_the_index_of_those_that_count() -> None:
    [index] = [one for one in TABLES["round"].indexes if one.name == "ix_round_countable"]

    assert on_postgres(CreateIndex(index)).endswith(
        "WHERE seconds IS NOT NULL AND forgotten_at IS NULL"
    )
