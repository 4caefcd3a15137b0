"""Records: every closed round is counted once, and a broken one is left out."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.records import (
    count_closed_round,
    count_missing_rounds,
    update_records,
    update_votes,
)
from council.bakeoffs.bias.number_verification import verify_record, verify_votes
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.rounds import Closing, Round
from storage.engine import open_engine
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from tests.bot.cli.test_serve_leader import other_leader
from tests.bot.cluster_fakes import processes
from tests.bot.rounds import held
from tests.builders import ASKED_AT, a_round
from tests.fakes.gateway import FakeGateway
from tests.sqlite import new_file
from tests.storage.bakeoffs.benches import SUITE, Stores, a_bakeoff, sql_bakeoff_stores

NEXT = timedelta(hours=1)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    engine = open_engine(new_file(tmp_path))
    yield engine
    await engine.dispose()


@pytest.fixture
def stores(engine: AsyncEngine) -> Stores:
    return of_database(engine)


def of_database(engine: AsyncEngine) -> Stores:
    return Stores(SqlRoundStore(engine), sql_bakeoff_stores(engine), SqlOutbox(engine))


async def run_rounds(stores: Stores, *round_ids: str) -> tuple[Round, ...]:
    """Run rounds, each an hour after the one before."""
    for nth, round_id in enumerate(round_ids):
        bakeoff, _, _ = round_id.rpartition(".")
        at = ASKED_AT + nth * NEXT
        round_ = replace(a_round(), id=round_id, bakeoff=bakeoff, asked_at=at)
        await stores.store.open(round_)
    council = RoundServices(FakeGateway(), stores.store)
    return tuple([await run_round(round_id, council) for round_id in round_ids])


async def recorded(stores: Stores) -> list[str]:
    return [record.round_id for record in await bakeoff_stores(stores).records.list_recent()]


async def test_every_closed_round_is_counted_once_the_oldest_first(stores: Stores) -> None:
    await run_rounds(stores, "r3", "r1", "r2")
    await stores.store.open(replace(a_round(), id="open"))
    failed = replace(a_round(), id="failed", asked_at=ASKED_AT + 9 * NEXT)
    await stores.store.open(failed.with_(Closing(1.0, "Nobody answered.")))

    await update_records(stores)
    await update_records(stores)

    assert await recorded(stores) == ["r3", "r1", "r2", "failed"]
    votes = await bakeoff_stores(stores).votes.list_recent()
    assert [vote.round_id for vote in votes] == await recorded(stores)
    for counted in (bakeoff_stores(stores).records, bakeoff_stores(stores).votes):
        assert await counted.list_missing(9) == ()


async def test_a_round_that_was_forgotten_before_it_was_counted_is_counted(
    stores: Stores,
) -> None:
    await run_rounds(stores, "r1", "r2")
    await stores.store.forget("r1", ASKED_AT, "salt")

    await update_records(stores)

    assert await recorded(stores) == ["r1", "r2"]
    record, _ = await bakeoff_stores(stores).records.list_recent()
    votes, _ = await bakeoff_stores(stores).votes.list_recent()
    forgotten = await stores.store.load("r1")
    assert verify_record(record, forgotten, None) == verify_votes(votes, forgotten) == ()


async def test_rounds_counted_before_votes_were_stored_are_read_again(
    stores: Stores,
) -> None:
    await run_rounds(stores, "r1", "r2")
    await update_records(stores)
    old = [votes._replace(version=0) for votes in await bakeoff_stores(stores).votes.list_recent()]
    await bakeoff_stores(stores).votes.save(old)

    await update_records(stores)
    assert await bakeoff_stores(stores).votes.list_missing(9) == ("r1", "r2")
    await update_votes(stores)

    assert await bakeoff_stores(stores).votes.list_missing(9) == ()
    assert await recorded(stores) == ["r1", "r2"]


async def test_a_round_of_a_bakeoff_is_counted_under_its_suite(stores: Stores) -> None:
    await bakeoff_stores(stores).bakeoffs.open(a_bakeoff())
    await run_rounds(stores, "bo:1.1", "bo:gone.1")

    await update_records(stores)

    of_suite, of_none = await bakeoff_stores(stores).records.list_recent()
    assert (of_suite.bakeoff, of_suite.number) == ("bo:1", 1)
    assert (of_suite.suite, of_suite.suite_version) == ("sql", SUITE.version)
    assert of_suite.category == "sums"
    assert (of_none.suite, of_none.category) == ("", "")


@pytest.mark.parametrize(
    ("damage", "left_out"),
    [
        ("UPDATE round SET panel = '{broken' WHERE id = 'bo:1.1'", "bo:1.1"),
        ("UPDATE bakeoff SET panel = '{broken'", "bo:1.1"),
    ],
)
async def test_a_round_that_cannot_be_read_is_left_out_and_stops_nothing(
    engine: AsyncEngine, damage: str, left_out: str
) -> None:
    broken, told = of_database(engine), list[str]()
    await bakeoff_stores(broken).bakeoffs.open(a_bakeoff())
    await run_rounds(broken, "bo:1.1", "r1", "r2")
    async with engine.begin() as connection:
        await connection.execute(text(damage))

    await update_records(broken, tell=told.append)

    assert await recorded(broken) == ["r1", "r2"]
    assert await bakeoff_stores(broken).records.list_missing(9) == (left_out,)
    assert [why.partition(":")[0] for why in told] == [f"Round '{left_out.partition(':')[0]}"]


async def test_a_closed_round_is_counted_without_the_ones_before_it(stores: Stores) -> None:
    await run_rounds(stores, "before")
    (round_,) = await run_rounds(stores, "r1")

    await count_closed_round(stores, round_)

    assert await recorded(stores) == ["r1"]


async def test_only_the_leader_counts_earlier_rounds() -> None:
    _, (app, _) = processes(2)
    await app.store.open(await held())

    for alone, missing in ((other_leader, ("r1",)), (app.leader_lock, ())):
        await count_missing_rounds(app, alone)
        assert await bakeoff_stores(app).records.list_missing(9) == missing
