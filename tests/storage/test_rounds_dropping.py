"""A deleted workspace loses its rounds; their costs remain, without an asker."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from council.budget_caps import Account, Caps, Scope
from council.errors import RoundNotFoundError
from council.places import Place
from council.ports import Ledger, OutboxStore, Store
from council.rounds import Question, Round
from storage.ledger import SqlLedger
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from storage.row_mapping import PART_TABLES
from storage.tables import FeedbackRow, HumanVoteRow, OutgoingRow
from tests.builders import ASKED_AT
from tests.fakes.memory_bakeoffs import memory_bench
from tests.fakes.memory_ledger import MemoryLedger
from tests.fakes.memory_outbox import MemoryOutbox
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round, in_memory_too
from tests.storage.conftest import engine_of

HERE = Place("slack", "T1", "C1")
DAY = date(2026, 11, 21)


@dataclass(frozen=True, slots=True)
class Site:
    """The stores of rounds, messages and money, all of one kind."""

    store: Store
    outgoing: OutboxStore
    ledger: Ledger


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Site:
    if request.param == "memory":
        outgoing, ledger = MemoryOutbox(), MemoryLedger()
        store = MemoryStore()
        memory_bench(store, outgoing.drop)
        memory_bench(store, ledger.disown)
        return Site(store, outgoing, ledger)
    engine = engine_of(request)
    return Site(SqlRoundStore(engine), SqlOutbox(engine), SqlLedger(engine))


def a_round_at(round_id: str, place: Place) -> Round:
    question = Question(f"Marked-{round_id}?", "U1", place=place)
    return replace(a_closed_round(round_id), question=question)


async def store_all(site: Site, *rounds: Round) -> None:
    for round_ in rounds:
        await site.store.open(round_)
        await site.outgoing.claim(f"key-{round_.id}", round_.id, ASKED_AT)
        await site.ledger.settle(Account(round_.id, DAY, "U1", "slack/T1/C1"), 7)


@in_memory_too
@pytest.mark.parametrize(
    "place",
    [
        pytest.param(replace(HERE, workspace="T2"), id="another-workspace"),
        pytest.param(replace(HERE, chat="discord"), id="another-chat"),
    ],
)
async def test_only_the_rounds_of_the_workspace_are_deleted(site: Site, place: Place) -> None:
    beside = replace(HERE, channel="C2", private=True)
    await store_all(site, a_round_at("r1", HERE), a_round_at("r2", beside), a_round_at("r3", place))

    assert await site.store.delete_workspace("slack", "T1") == 2

    assert await site.store.ids() == ("r3",)
    assert await site.store.load("r3") == a_round_at("r3", place)
    with pytest.raises(RoundNotFoundError, match=r"^There is no round 'r1'\.$"):
        await site.store.load_summary("r1")


async def test_deleting_a_workspace_without_rounds_deletes_nothing(site: Site) -> None:
    await store_all(site, a_round_at("r1", HERE))

    assert await site.store.delete_workspace("slack", "T9") == 0

    assert await site.store.ids() == ("r1",)


@in_memory_too
async def test_their_messages_are_deleted_with_them(site: Site) -> None:
    await store_all(site, a_round_at("r1", HERE), a_round_at("r2", replace(HERE, workspace="T2")))

    await site.store.delete_workspace("slack", "T1")
    await site.store.open(a_round_at("r1", HERE))

    again = [await site.outgoing.claim(f"key-{key}", key, ASKED_AT) for key in ("r1", "r2")]
    assert [claim.is_new for claim in again] == [True, False]


@in_memory_too
async def test_the_costs_remain_without_an_asker(site: Site) -> None:
    await store_all(site, a_round_at("r1", HERE), a_round_at("r2", replace(HERE, workspace="T2")))

    await site.store.delete_workspace("slack", "T1")

    assert await site.ledger.spent("r1") == 7
    used = await site.ledger.usage(Account("", DAY, "U1", "slack/T1/C1"))
    spent = [used[scope].spent for scope in (Scope.USER_DAY, Scope.CHANNEL_DAY, Scope.DAY)]
    assert spent == [7, 14, 14]
    assert await site.ledger.reserve(Account("r3", DAY, "U1"), 3, Caps(user_day=10)) is None


async def rows_left(engine: AsyncEngine) -> Sequence[int]:
    tables: tuple[type[Any], ...] = (*PART_TABLES, OutgoingRow, FeedbackRow, HumanVoteRow)
    async with engine.connect() as connection:
        counts = [await connection.execute(select(func.count()).select_from(t)) for t in tables]
    return [count.scalar_one() for count in counts]


async def test_no_row_and_no_byte_of_them_is_left(engine: AsyncEngine, tmp_path: Path) -> None:
    site = Site(SqlRoundStore(engine), SqlOutbox(engine), SqlLedger(engine))
    await store_all(site, a_round_at("r1", HERE), a_round_at("r2", HERE))

    await site.store.delete_workspace("slack", "T1")
    await site.store.wipe()

    assert {*await rows_left(engine)} == {0}
    bytes_ = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Marked-r" not in bytes_
