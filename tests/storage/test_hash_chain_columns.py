"""Whatever column of a closed round is changed in the database, verifying finds it.

What may change afterwards is listed here, with the reason; anything else that is not found fails.
"""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import SQLModel

from storage.hash_chain import SqlHashChain
from storage.rounds import SqlRoundStore
from storage.row_mapping import PANEL
from storage.tables import LinkRow
from tests.builders import ASKED_AT
from tests.storage.builders import store_round
from tests.storage.tampering import (
    TABLES,
    Change,
    Meddler,
    a_full_round,
    changes_of,
    is_found,
)

LATER = ASKED_AT + timedelta(days=90)
# Columns that may change after a round closed, and why that is no tampering.
MAY_CHANGE = {
    "round.paused": "somebody stops a round or has it go on; of a closed one it says nothing",
    "round.delivered": "its place is told the answer after the round has closed",
}
# Of a forgotten round one more, since forgetting may happen at any time.
MAY_CHANGE_FORGOTTEN = MAY_CHANGE | {
    "round.forgotten_at": "when texts were removed is later than the close, so no link can hold it",
}

by_table = pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table.__tablename__))


@pytest.fixture
def meddler(tmp_path: Path) -> Meddler:
    return Meddler(tmp_path / "council.db")


def means_the_same(change: Change) -> bool:
    """Return whether a panel's document only omits default values."""
    if change.name != "round.panel":
        return False
    before, after = (json.loads(str(document)) for document in (change.before, change.value))
    return PANEL.validate_python(before) == PANEL.validate_python(after)


async def unfound(
    engine: AsyncEngine, meddler: Meddler, table: type[SQLModel], round_id: str = "r1"
) -> list[Change]:
    """Make every change there is of a round's rows, one at a time, and give those not found."""
    store, chain = SqlRoundStore(engine), SqlHashChain(engine)
    missed: list[Change] = []
    rows = meddler.rows(str(table.__tablename__))
    for row in [row for row in rows if round_id in {row.get("id"), row.get("round_id")}]:
        for change in changes_of(table, row):
            if not meddler.make(change):
                continue
            if not await is_found(store, chain, round_id) and not means_the_same(change):
                missed.append(change)
            meddler.undo(change)
    assert not await is_found(store, chain, round_id)
    return missed


@by_table
async def test_every_change_of_a_column_is_found(
    engine: AsyncEngine, meddler: Meddler, table: type[SQLModel]
) -> None:
    round_ = a_full_round()
    await store_round(SqlRoundStore(engine), round_)

    missed = await unfound(engine, meddler, table)

    assert [str(change) for change in missed if change.name not in MAY_CHANGE] == []


@by_table
async def test_every_change_after_forgetting_is_found(
    engine: AsyncEngine, meddler: Meddler, table: type[SQLModel]
) -> None:
    await store_round(SqlRoundStore(engine), a_full_round())
    await SqlRoundStore(engine).forget("r1", LATER, "salt")

    missed = await unfound(engine, meddler, table)

    assert [str(change) for change in missed if change.name not in MAY_CHANGE_FORGOTTEN] == []


@by_table
async def test_every_row_that_is_taken_away_is_missed(
    engine: AsyncEngine, meddler: Meddler, table: type[SQLModel]
) -> None:
    store, chain = SqlRoundStore(engine), SqlHashChain(engine)
    await store_round(store, a_full_round())

    missed = []
    name = str(table.__tablename__)
    for row in meddler.rows(name):
        meddler.delete(name, row)
        if not await is_found(store, chain, "r1"):
            missed.append(row)
        meddler.insert(name, row)

    assert missed == []
    assert not await is_found(store, chain, "r1")


@pytest.mark.parametrize("round_id", ["r1", "r2"], ids=["first", "last"])
async def test_every_change_of_a_link_is_found(
    engine: AsyncEngine, meddler: Meddler, round_id: str
) -> None:
    for number in (1, 2):
        await store_round(SqlRoundStore(engine), a_full_round(f"r{number}"))

    missed = await unfound(engine, meddler, LinkRow, round_id)

    assert [*map(str, missed)] == []
