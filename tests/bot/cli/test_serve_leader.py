"""Housekeeping of `council serve` is done by one process only."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from bot.bakeoffs.records import count_closed_rounds
from bot.cli.serve import cluster_tasks
from bot.commands.buttons import MAX_REMEMBERED_PRESSES, PRESS
from bot.context import AppContext
from bot.coordination.bakeoff_registry import BakeoffRegistry
from bot.runners.retention import forget_daily
from council.budget import Budget
from council.budget_caps import Account
from council.rounds import Closing, Round
from tests.bot.cluster_fakes import processes
from tests.bot.rounds import held
from tests.builders import a_round


@asynccontextmanager
async def another_does(_: str) -> AsyncIterator[bool]:
    """Say that another process does it."""
    yield False


async def done_for_a_moment(app: AppContext) -> None:
    """Have a process do what it does beside serving, for a moment."""
    assert app.job_queue
    acts = [asyncio.create_task(act) for act in cluster_tasks(app, app.job_queue)]
    for _ in range(20):
        await asyncio.sleep(0)
    for act in acts:
        act.cancel()
    await asyncio.gather(*acts, return_exceptions=True)


async def reserved_for_nobody(budget: Budget) -> None:
    lost = replace(a_round(), id="lost")
    await budget.ledger.reserve(Account.of(lost, budget.now()), 5, budget.caps)


async def test_money_of_rounds_about_to_be_stored_elsewhere_is_not_freed_at_once() -> None:
    _, (app, _) = processes(2)
    await reserved_for_nobody(app.budget)

    await done_for_a_moment(app)

    assert await app.budget.ledger.list_reserved_rounds() == ("lost",)


async def test_one_process_forgets_presses_of_long_ago_and_the_others_do_not() -> None:
    _, (app, _) = processes(2)
    app.bakeoff_registry = BakeoffRegistry(sole=another_does)
    for number in range(MAX_REMEMBERED_PRESSES + 1):
        await app.key_values.put(PRESS, f"press {number}", "")

    await done_for_a_moment(app)

    assert len(await app.key_values.list_texts(PRESS)) == MAX_REMEMBERED_PRESSES + 1


async def test_numbers_of_rounds_that_closed_before_are_one_process_affair() -> None:
    _, (app, _) = processes(2)
    round_ = await held()
    await app.store.open(round_)
    closed: asyncio.Queue[Round] = asyncio.Queue()

    for alone, missing in ((another_does, ("r1",)), (app.bakeoff_registry.acquire, ())):
        counting = asyncio.create_task(count_closed_rounds(app, closed, alone))
        await asyncio.sleep(0.2)
        counting.cancel()
        await asyncio.gather(counting, return_exceptions=True)
        assert await app.bakeoff_stores.records.list_missing(9) == missing


async def test_old_texts_are_forgotten_by_one_process() -> None:
    _, (app, _) = processes(2)
    old = a_round().with_(Closing(1.0))
    await app.store.open(old)

    async def once(_: float) -> None:
        raise asyncio.CancelledError

    for alone, is_forgotten in ((another_does, False), (app.bakeoff_registry.acquire, True)):
        act = forget_daily(app.store, 0, app.runner.is_running, alone, once)
        await asyncio.gather(act, return_exceptions=True)
        assert ((await app.store.load("r1")).forgotten is not None) is is_forgotten
