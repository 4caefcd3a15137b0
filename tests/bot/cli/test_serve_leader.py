"""Background tasks of `council serve` that only the leader runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bot.cli.serve import ROUND_OPENING_SECONDS, sweep
from bot.commands.buttons import MAX_REMEMBERED_PRESSES, PRESS
from bot.runners.retention import forget_daily
from council.budget_caps import Account
from council.rounds import Closing
from tests.bot.cluster_fakes import processes
from tests.builders import a_round


@asynccontextmanager
async def other_leader(_: str) -> AsyncIterator[bool]:
    """Yield that another process is the leader."""
    yield False


async def test_reserved_money_is_released_unless_its_round_is_stored_in_time() -> None:
    _, (app, _) = processes(2)
    lost = replace(a_round(), id="lost")
    await app.budget.ledger.reserve(Account.of(lost, app.budget.now()), 5, app.budget.caps)
    reserved_meanwhile = list[str]()

    async def sleep(seconds: float) -> None:
        assert seconds == ROUND_OPENING_SECONDS
        reserved_meanwhile.extend(await app.budget.ledger.list_reserved_rounds())

    await sweep(app, sleep)

    assert reserved_meanwhile == ["lost"]
    assert await app.budget.ledger.list_reserved_rounds() == ()


async def no_pause(_: float) -> None:
    """Return at once."""


@pytest.mark.parametrize("is_leader", [False, True])
async def test_only_the_leader_forgets_old_button_presses(is_leader: bool) -> None:
    _, (app, _) = processes(2)
    if not is_leader:
        app.leader_lock = other_leader
    for number in range(MAX_REMEMBERED_PRESSES + 1):
        await app.key_values.put(PRESS, f"press {number}", "")

    await sweep(app, no_pause)

    presses = await app.key_values.list_texts(PRESS)
    assert len(presses) == MAX_REMEMBERED_PRESSES + (not is_leader)


async def test_only_the_leader_forgets_old_texts() -> None:
    _, (app, _) = processes(2)
    old = a_round().with_(Closing(1.0))
    await app.store.open(old)

    async def once(_: float) -> None:
        raise asyncio.CancelledError

    for alone, is_forgotten in ((other_leader, False), (app.leader_lock, True)):
        act = forget_daily(app.store, 0, app.runner.is_running, alone, once)
        await asyncio.gather(act, return_exceptions=True)
        assert ((await app.store.load("r1")).forgotten is not None) is is_forgotten
