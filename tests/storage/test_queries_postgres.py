"""What is particular to Postgres: types, locks, the index and the driver."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from sqlalchemy import ClauseElement, Table, event, make_url
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.schema import CreateIndex, CreateTable

from council.errors import StoreError
from council.rounds import Closing
from storage.engine import open_engine
from storage.rounds import SqlRoundStore
from storage.tables import RoundRow
from tests.builders import ASKED_AT, a_round, an_answer

POSTGRES = make_url("postgresql://").get_dialect()()
TABLES = RoundRow.metadata.tables


def on_postgres(clause: ClauseElement) -> str:
    return " ".join(str(clause.compile(dialect=POSTGRES)).split())


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_documents_and_times_have_postgres_types(table: Table) -> None:
    declared = on_postgres(CreateTable(table))

    kinds = [type(column.type).__name__ for column in table.columns]
    assert declared.count(" JSONB") == kinds.count("Json")
    assert declared.count(" TIMESTAMP WITH TIME ZONE") == kinds.count("UtcDateTime")


@pytest.mark.parametrize(
    ("act", "lock"),
    [
        pytest.param(lambda s: s.forget("r1", ASKED_AT, "s"), "FOR UPDATE", id="forget"),
        pytest.param(lambda s: s.save("r1", Closing(9.0)), "FOR UPDATE", id="close"),
        pytest.param(lambda s: s.save("r1", an_answer()), "FOR SHARE", id="save"),
    ],
)
async def test_a_round_is_locked_while_it_changes(
    server_engine: AsyncEngine,
    act: Callable[[SqlRoundStore], Coroutine[Any, Any, object]],
    lock: str,
) -> None:
    statements: list[str] = []
    store = SqlRoundStore(server_engine)
    await store.open(a_round())

    def note(*given: Any) -> None:  # noqa: ANN401
        statements.append(given[2])

    event.listen(server_engine.sync_engine, "before_cursor_execute", note, named=False)
    await act(store)

    assert any(lock in statement for statement in statements)


def test_a_missing_driver_is_named() -> None:
    with pytest.raises(StoreError, match="needs the Python package 'asyncpg'. Install it"):
        open_engine("postgresql+asyncpg://localhost/council")


def test_only_closed_rounds_are_in_the_index_of_those_that_count() -> None:
    [index] = [one for one in TABLES["round"].indexes if one.name == "ix_round_countable"]

    assert on_postgres(CreateIndex(index)).endswith(
        "WHERE seconds IS NOT NULL AND forgotten_at IS NULL"
    )
