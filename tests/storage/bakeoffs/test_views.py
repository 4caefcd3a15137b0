"""The view of a bake-off's cells has every model of a panel, with its grade."""

from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import AuthorRecord, CouncilRecord, Record
from storage.rounds import SqlRoundStore
from tests.storage.bakeoffs.benches import SUITE, a_bakeoff, sql_bakeoff_stores
from tests.storage.builders import BOTH
from tests.storage.tampering import a_full_round
from tests.storage.test_views import fetch

DATABASES = BOTH
GRADES = [(None, None), (True, 1.0), (False, 0.0), (False, 0.7), (False, 1 / 3), (False, 0.001)]


@pytest.mark.parametrize(("correct", "grade"), GRADES)
async def test_a_cell_has_the_stored_grade(
    engine: AsyncEngine, correct: bool | None, grade: float | None
) -> None:
    round_ = a_full_round("bo:1.2")
    members = [seat.key for seat in round_.panel.members]
    authored = tuple(AuthorRecord(one, correct=False, grade=0.25) for one in members)
    authored = (*authored[:-1], replace(authored[-1], correct=correct, grade=grade))
    numbers = {"bakeoff": "bo:1", "number": 2, "suite": "sql", "suite_version": SUITE.version}
    record = Record(
        round_.id,
        round_.asked_at,
        "house",
        "",
        authored,
        (),
        (),
        CouncilRecord(),
        category="sums",
        **numbers,  # type: ignore[arg-type]
    )
    stores = sql_bakeoff_stores(engine)
    await SqlRoundStore(engine).open(round_)
    await stores.bakeoffs.open(a_bakeoff())
    await stores.records.save([pack_record(record)])

    rows = await fetch(engine, "SELECT * FROM v_bakeoff_cell")

    cells = {row["member"]: row for row in rows}
    assert sorted(cells) == sorted(members)
    assert {(row["number"], row["suite"], row["category"]) for row in rows} == {(2, "sql", "sums")}
    assert (cells[members[0]]["correct"], cells[members[0]]["grade"]) == (0, 0.25)
    assert cells[members[-1]]["correct"] == correct
    assert cells[members[-1]]["grade"] == pytest.approx(grade)
    assert {row["member"]: row["answer"] for row in rows} == {
        answer.member: answer.reply.text for answer in round_.answers
    }


async def test_a_round_without_a_record_has_cells_without_grades(engine: AsyncEngine) -> None:
    await SqlRoundStore(engine).open(a_full_round("of another name"))

    rows = await fetch(engine, "SELECT * FROM v_bakeoff_cell")

    assert {(row["number"], row["grade"], row["suite"]) for row in rows} == {(None, None, None)}
