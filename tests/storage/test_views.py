"""The views for analysts have what the program computes, on both databases."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.answers import Origin
from council.rounds import Round
from council.tally.borda import borda_shares, ranks
from storage.engine import schema_transaction
from storage.rounds import SqlRoundStore
from storage.views import VIEWS, create_views, drop_views
from tests.builders import ASKED_AT
from tests.storage.builders import BOTH, a_closed_round
from tests.storage.tampering import a_full_round

DATABASES = BOTH


async def fetch(engine: AsyncEngine, query: str) -> list[dict[str, Any]]:
    async with engine.connect() as connection:
        return [dict(row) for row in (await connection.execute(text(query))).mappings()]


def authors(round_: Round) -> dict[str, str]:
    assert round_.draw
    return {label: author for author, label in round_.draw.labels.pairs}


@pytest.fixture
async def full(engine: AsyncEngine) -> Round:
    """Return a stored round with something in every column."""
    round_ = a_full_round()
    await SqlRoundStore(engine).open(round_)
    return round_


async def test_a_standing_is_that_of_the_tally(engine: AsyncEngine, full: Round) -> None:
    rows = await fetch(engine, "SELECT * FROM v_standing ORDER BY place, label")

    assert full.tally
    assert [(row["label"], row["share"], row["place"], row["points"]) for row in rows] == [
        (line.label, line.share, line.place, line.points) for line in full.tally.standings
    ]
    assert {row["label"]: row["member"] for row in rows} == authors(full)


async def test_a_ranking_has_the_ranks_and_shares_of_the_tally(
    engine: AsyncEngine, full: Round
) -> None:
    rows = await fetch(engine, "SELECT * FROM v_ballot")

    for ballot in full.ballots:
        own = {
            row["label"]: row
            for row in rows
            if (row["judge"], row["audit"], row["pass"])
            == (ballot.judge, ballot.audit or "", ballot.pass_number)
        }
        assert {label: row["rank"] for label, row in own.items()} == ranks(ballot.ranking)
        assert {label: row["share"] for label, row in own.items()} == pytest.approx(
            borda_shares(ballot.ranking)
        )
        assert [label for label, _ in sorted(own.items(), key=lambda item: item[1]["slot"])] == [
            *ballot.shown
        ]
        assert {bool(row["counted"]) for row in own.values()} == {ballot.counts}
    assert len(rows) == sum(len(ballot.shown) for ballot in full.ballots)


async def test_a_rounds_cost_is_what_it_paid_for(engine: AsyncEngine) -> None:
    full = a_full_round()
    used_again = replace(full.answers[0], origin=Origin("r0", ASKED_AT))
    priced = replace(a_closed_round("r2"), answers=(used_again, *full.answers[1:]))
    for round_ in (full, priced):
        await SqlRoundStore(engine).open(round_)

    rows = await fetch(engine, "SELECT * FROM v_round ORDER BY round_id")

    for row, round_ in zip(rows, (full, priced), strict=True):
        stored = await SqlRoundStore(engine).load(round_.id)
        assert row["cost_usd"] == pytest.approx(stored.cost_usd)
        assert row["calls"] == len(stored.replies)
        assert row["winner"] == winner(stored)
        assert row["method"] == "blind-ranking"


def winner(round_: Round) -> str | None:
    """Return who is first alone."""
    assert round_.tally
    first = [line for line in round_.tally.standings if line.place == 1]
    return authors(round_)[first[0].label] if len(first) == 1 else None


async def test_the_views_can_be_created_again(engine: AsyncEngine, full: Round) -> None:
    async with schema_transaction(engine) as connection:
        await connection.run_sync(drop_views)
        await connection.run_sync(create_views)

    for view in VIEWS:
        assert await fetch(engine, f"SELECT * FROM {view}")  # noqa: S608 - ours
