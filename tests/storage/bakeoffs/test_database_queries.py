"""The queries of docs/database.md run on both databases, and the last one recounts the rounds."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import AuthorRecord, CouncilRecord, Record
from council.labels import Slate
from council.randomness import random_fraction, shuffle
from council.rounds import Closing, Round
from storage.rounds import SqlRoundStore
from tests.builders import a_panel, a_round, with_answers, with_ballots
from tests.storage.bakeoffs.benches import SUITE, a_bakeoff, sql_bakeoff_stores
from tests.storage.builders import BOTH
from tests.storage.test_views import fetch

DATABASES = BOTH
DOCUMENT = Path(__file__).parents[3] / "docs" / "database.md"
QUERIES = re.findall(
    r"^```sql\n((?:SELECT|WITH).*?);\n```",
    DOCUMENT.read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
*LISTS, RECOUNT = QUERIES
SHAPES = [(3, 0), (3, 1), (4, 0), (4, 1), (5, 0), (5, 2), (6, 1), (8, 0)]
GRADES = (1.0, 0.5, 0.0)


def a_vote(slate: Slate) -> str:
    """Return a drawn ranking, with ties; now and then none, which spoils the ballot."""
    drawn = str((slate.judge, slate.pass_number, *slate.shown))
    if random_fraction(drawn, "spoiled") < 0.2:
        return ""
    first, *others = shuffle([*slate.letters], drawn, "order")
    signs = ["=" if random_fraction(drawn, f"tie {one}") < 0.3 else " " for one in others]
    return first + "".join(f"{sign}{one}" for sign, one in zip(signs, others, strict=True))


def a_counted_round(nth: int) -> Round:
    """Return a closed round of a bake-off, with drawn rankings and an invalid one at times."""
    members, outside = SHAPES[nth % len(SHAPES)]
    opened = a_round(a_panel(members, outside=outside), seed=f"seed {nth}")
    opened = replace(opened, id=f"bo:1.{nth + 1}" if nth % 2 else f"r{nth}")
    opened = replace(opened, bakeoff="bo:1" if nth % 2 else "")
    return replace(with_ballots(with_answers(opened), a_vote), closing=Closing(20.0))


def a_graded_record(round_: Round, number: int) -> Record:
    authored = tuple(
        AuthorRecord(seat.key, correct=grade == 1, grade=grade)
        for seat, grade in zip(round_.panel.members, GRADES * 3, strict=False)
    )
    own = ("bo:1", number, "sql", SUITE.version, "sums")
    return Record(round_.id, round_.asked_at, "house", "", authored, (), (), CouncilRecord(), *own)


@pytest.fixture
async def filled(engine: AsyncEngine) -> AsyncEngine:
    """Return a database with 24 rounds, half of them of a graded bake-off."""
    stores = sql_bakeoff_stores(engine)
    await stores.bakeoffs.open(a_bakeoff())
    for nth in range(24):
        round_ = a_counted_round(nth)
        await SqlRoundStore(engine).open(round_)
        if round_.bakeoff:
            await stores.records.save([pack_record(a_graded_record(round_, nth + 1))])
    return engine


async def test_every_query_runs_and_finds_something(filled: AsyncEngine) -> None:
    found = [await fetch(filled, query) for query in LISTS]

    assert len(QUERIES) == 10
    assert [query for query, rows in zip(LISTS, found, strict=True) if not rows] == []


async def test_the_recount_finds_each_official_share_that_was_changed(filled: AsyncEngine) -> None:
    before = await fetch(filled, RECOUNT)
    changed = "UPDATE standing SET share = share - 0.01 WHERE round_id = 'r2' AND position = 0"
    async with filled.begin() as connection:
        await connection.execute(text(changed))

    after = await fetch(filled, RECOUNT)

    assert before == []
    assert [row["round_id"] for row in after] == ["r2"]
