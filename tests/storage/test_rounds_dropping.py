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
from storage.memory import MemoryStore
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from storage.row_mapping import PART_TABLES
from storage.tables import FeedbackRow, HumanVoteRow, OutgoingRow
from tests.builders import ASKED_AT
from tests.fakes.memory_ledger import MemoryLedger
from tests.fakes.memory_outbox import MemoryOutbox
from tests.storage.builders import a_closed_round, in_memory_too, store_round
from tests.storage.conftest import engine_of

HERE = Place("slack", "T1", "C1")
DAY = date(2026, 11, 21)


@dataclass(frozen=True, slots=True)
class House:
    """What is kept of rounds, all of it in one place."""

    store: Store
    outgoing: OutboxStore
    ledger: Ledger


@pytest.fixture
def house(request: pytest.FixtureRequest) -> House:
    if request.param == "memory":
        outgoing, ledger = MemoryOutbox(), MemoryLedger()
        return House(MemoryStore(outgoing.drop, ledger.disown), outgoing, ledger)
    engine = engine_of(request)
    return House(SqlRoundStore(engine), SqlOutbox(engine), SqlLedger(engine))


def asked(round_id: str, place: Place) -> Round:
    question = Question(f"Marked-{round_id}?", "U1", place=place)
    return replace(a_closed_round(round_id), question=question)


async def kept(house: House, *rounds: Round) -> None:
    for round_ in rounds:
        await store_round(house.store, round_)
        await house.outgoing.claim(f"key-{round_.id}", round_.id, ASKED_AT)
        await house.ledger.settle(Account(round_.id, DAY, "U1", "slack/T1/C1"), 7)


@in_memory_too
@pytest.mark.parametrize(
    "place",
    [
        pytest.param(replace(HERE, workspace="T2"), id="another-workspace"),
        pytest.param(replace(HERE, chat="discord"), id="another-chat"),
    ],
)
async def test_only_the_rounds_of_the_workspace_go(house: House, place: Place) -> None:
    beside = replace(HERE, channel="C2", private=True)
    await kept(house, asked("r1", HERE), asked("r2", beside), asked("r3", place))

    assert await house.store.delete_workspace("slack", "T1") == 2

    assert await house.store.ids() == ("r3",)
    assert await house.store.load("r3") == asked("r3", place)
    with pytest.raises(RoundNotFoundError, match=r"^There is no round 'r1'\.$"):
        await house.store.load_summary("r1")


async def test_dropping_a_workspace_without_rounds_deletes_nothing(house: House) -> None:
    await kept(house, asked("r1", HERE))

    assert await house.store.delete_workspace("slack", "T9") == 0

    assert await house.store.ids() == ("r1",)


@in_memory_too
async def test_their_messages_go_with_them(house: House) -> None:
    await kept(house, asked("r1", HERE), asked("r2", replace(HERE, workspace="T2")))

    await house.store.delete_workspace("slack", "T1")
    await house.store.open(asked("r1", HERE))

    again = [await house.outgoing.claim(f"key-{key}", key, ASKED_AT) for key in ("r1", "r2")]
    assert [claim.is_new for claim in again] == [True, False]


@in_memory_too
async def test_the_costs_remain_without_an_asker(house: House) -> None:
    await kept(house, asked("r1", HERE), asked("r2", replace(HERE, workspace="T2")))

    await house.store.delete_workspace("slack", "T1")

    assert await house.ledger.spent("r1") == 7
    used = await house.ledger.usage(Account("", DAY, "U1", "slack/T1/C1"))
    spent = [used[scope].spent for scope in (Scope.USER_DAY, Scope.CHANNEL_DAY, Scope.DAY)]
    assert spent == [7, 14, 14]
    assert await house.ledger.reserve(Account("r3", DAY, "U1"), 3, Caps(user_day=10)) is None


async def rows_left(engine: AsyncEngine) -> Sequence[int]:
    tables: tuple[type[Any], ...] = (*PART_TABLES, OutgoingRow, FeedbackRow, HumanVoteRow)
    async with engine.connect() as connection:
        counts = [await connection.execute(select(func.count()).select_from(t)) for t in tables]
    return [count.scalar_one() for count in counts]


async def test_no_row_and_no_byte_of_them_is_left(engine: AsyncEngine, tmp_path: Path) -> None:
    house = House(SqlRoundStore(engine), SqlOutbox(engine), SqlLedger(engine))
    await kept(house, asked("r1", HERE), asked("r2", HERE))

    await house.store.delete_workspace("slack", "T1")
    await house.store.wipe()

    assert {*await rows_left(engine)} == {0}
    bytes_ = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Marked-r" not in bytes_
