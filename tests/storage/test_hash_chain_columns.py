"""Whatever column of a closed round is changed in the database, verifying finds it.

What may change afterwards is listed here, with the reason; anything else that is not found fails.
"""

import json
from collections.abc import Sequence
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
    "round.paused": "a round is paused and resumed; this says nothing about a closed one",
    "round.delivered": "the answer is delivered after the round has closed",
}
# Of a forgotten round one more, since forgetting may happen at any time.
MAY_CHANGE_FORGOTTEN = MAY_CHANGE | {
    "round.forgotten_at": "texts are removed after the close, so no link can hold the time",
}

Tables = Sequence[type[SQLModel]]


@pytest.fixture
def meddler(tmp_path: Path) -> Meddler:
    return Meddler(tmp_path / "council.db")


def means_the_same(change: Change) -> bool:
    """Return whether a panel's document only omits default values."""
    if change.name != "round.panel":
        return False
    before, after = (json.loads(str(document)) for document in (change.before, change.value))
    return PANEL.validate_python(before) == PANEL.validate_python(after)


async def find_missed(
    engine: AsyncEngine, meddler: Meddler, tables: Tables, *, round_id: str = "r1", is_sample: bool
) -> list[Change]:
    """Make changes of a round's rows, one at a time; return those that are not found.

    Make every change there is, or in a sample one of each column.
    """
    store, chain = SqlRoundStore(engine), SqlHashChain(engine)
    missed: list[Change] = []
    for change in list_changes(meddler, tables, round_id, is_sample=is_sample):
        if not meddler.make(change):
            continue
        if not await is_found(store, chain, round_id) and not means_the_same(change):
            missed.append(change)
        meddler.undo(change)
    assert not await is_found(store, chain, round_id)
    return missed


def list_changes(
    meddler: Meddler, tables: Tables, round_id: str, *, is_sample: bool
) -> list[Change]:
    changes = [
        change
        for table in tables
        for row in meddler.rows(str(table.__tablename__))
        if round_id in {row.get("id"), row.get("round_id")}
        for change in changes_of(table, row)
    ]
    return [*{change.name: change for change in changes}.values()] if is_sample else changes


every_change = pytest.mark.parametrize(
    "is_sample",
    [pytest.param(True, id="sample"), pytest.param(False, id="all", marks=pytest.mark.nightly)],
)


@every_change
async def test_every_change_of_a_column_is_found(
    engine: AsyncEngine, meddler: Meddler, *, is_sample: bool
) -> None:
    await store_round(SqlRoundStore(engine), a_full_round())

    missed = await find_missed(engine, meddler, TABLES, is_sample=is_sample)

    assert [str(change) for change in missed if change.name not in MAY_CHANGE] == []


@every_change
async def test_every_change_after_forgetting_is_found(
    engine: AsyncEngine, meddler: Meddler, *, is_sample: bool
) -> None:
    await store_round(SqlRoundStore(engine), a_full_round())
    await SqlRoundStore(engine).forget("r1", LATER, "salt")

    missed = await find_missed(engine, meddler, TABLES, is_sample=is_sample)

    assert [str(change) for change in missed if change.name not in MAY_CHANGE_FORGOTTEN] == []


@every_change
@pytest.mark.parametrize("round_id", ["r1", "r2"], ids=["first", "last"])
async def test_every_change_of_a_link_is_found(
    engine: AsyncEngine, meddler: Meddler, round_id: str, *, is_sample: bool
) -> None:
    for number in (1, 2):
        await store_round(SqlRoundStore(engine), a_full_round(f"r{number}"))

    missed = await find_missed(engine, meddler, [LinkRow], round_id=round_id, is_sample=is_sample)

    assert [*map(str, missed)] == []


async def test_every_row_that_is_deleted_is_missed(engine: AsyncEngine, meddler: Meddler) -> None:
    store, chain = SqlRoundStore(engine), SqlHashChain(engine)
    await store_round(store, a_full_round())

    missed = []
    for table in TABLES:
        name = str(table.__tablename__)
        for row in meddler.rows(name):
            meddler.delete(name, row)
            if not await is_found(store, chain, "r1"):
                missed.append((name, row))
            meddler.insert(name, row)

    assert missed == []
    assert not await is_found(store, chain, "r1")
