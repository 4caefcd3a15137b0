"""What is done together on SQLite is one transaction: all of it is stored, or nothing."""

from datetime import date
from pathlib import Path

import pytest

from council.budget_caps import Account
from council.errors import StoreError
from council.money import Spending
from storage.engine import open_engine
from storage.key_value import SqlKeyValueStore
from storage.ledger import SqlLedger
from storage.rounds import SqlRoundStore
from tests.builders import a_round, an_answer
from tests.sqlite import new_file

ACCOUNT = Account("r1", date(2026, 11, 21), "U1")


async def test_nothing_is_stored_if_any_of_it_fails(tmp_path: Path) -> None:
    engine = open_engine(new_file(tmp_path))
    store, memos = SqlRoundStore(engine), SqlKeyValueStore(engine)

    async def work() -> None:
        await store.open(a_round())
        await memos.put("kind", "name", "text")
        raise StoreError("No.")

    with pytest.raises(StoreError, match="No."):
        await store.together(work)

    assert (await store.ids(), await memos.read("kind", "name")) == ((), None)
    await engine.dispose()


async def test_a_deferred_cost_is_stored_with_the_reply_and_once(tmp_path: Path) -> None:
    engine = open_engine(new_file(tmp_path))
    store = SqlRoundStore(engine)
    ledger = SqlLedger(engine, store.deferred)
    await store.open(a_round())

    ledger.defer(ACCOUNT, 7)
    await store.save("r1", an_answer())
    await ledger.settle(ACCOUNT)

    assert await ledger.spent("r1") == Spending(7)
    await engine.dispose()


async def test_a_cost_whose_reply_is_not_stored_is_settled_later(tmp_path: Path) -> None:
    engine = open_engine(new_file(tmp_path))
    store = SqlRoundStore(engine)
    ledger = SqlLedger(engine, store.deferred)

    ledger.defer(ACCOUNT, 7)
    with pytest.raises(StoreError):
        await store.save("r1", an_answer())  # there is no such round
    await ledger.settle(ACCOUNT)

    assert await ledger.spent("r1") == Spending(7)
    await engine.dispose()
