"""Background tasks of `council serve` that only the leader runs."""

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
async def other_leader(_: str) -> AsyncIterator[bool]:
    """Yield that another process is the leader."""
    yield False


async def run_briefly(app: AppContext) -> None:
    """Run the background tasks of a process for a moment."""
    assert app.job_queue
    acts = [asyncio.create_task(act) for act in cluster_tasks(app, app.job_queue)]
    for _ in range(20):
        await asyncio.sleep(0)
    for act in acts:
        act.cancel()
    await asyncio.gather(*acts, return_exceptions=True)


async def reserve_for_lost_round(budget: Budget) -> None:
    lost = replace(a_round(), id="lost")
    await budget.ledger.reserve(Account.of(lost, budget.now()), 5, budget.caps)


async def test_reserved_money_of_rounds_being_opened_is_kept() -> None:
    _, (app, _) = processes(2)
    await reserve_for_lost_round(app.budget)

    await run_briefly(app)

    assert await app.budget.ledger.list_reserved_rounds() == ("lost",)


async def test_only_the_leader_forgets_old_button_presses() -> None:
    _, (app, _) = processes(2)
    app.bakeoff_registry = BakeoffRegistry(sole=other_leader)
    for number in range(MAX_REMEMBERED_PRESSES + 1):
        await app.key_values.put(PRESS, f"press {number}", "")

    await run_briefly(app)

    assert len(await app.key_values.list_texts(PRESS)) == MAX_REMEMBERED_PRESSES + 1


async def test_only_the_leader_counts_earlier_rounds() -> None:
    _, (app, _) = processes(2)
    round_ = await held()
    await app.store.open(round_)
    closed: asyncio.Queue[Round] = asyncio.Queue()

    for alone, missing in ((other_leader, ("r1",)), (app.bakeoff_registry.acquire, ())):
        counting = asyncio.create_task(count_closed_rounds(app, closed, alone))
        await asyncio.sleep(0.2)
        counting.cancel()
        await asyncio.gather(counting, return_exceptions=True)
        assert await app.bakeoff_stores.records.list_missing(9) == missing


async def test_only_the_leader_forgets_old_texts() -> None:
    _, (app, _) = processes(2)
    old = a_round().with_(Closing(1.0))
    await app.store.open(old)

    async def once(_: float) -> None:
        raise asyncio.CancelledError

    for alone, is_forgotten in ((other_leader, False), (app.bakeoff_registry.acquire, True)):
        act = forget_daily(app.store, 0, app.runner.is_running, alone, once)
        await asyncio.gather(act, return_exceptions=True)
        assert ((await app.store.load("r1")).forgotten is not None) is is_forgotten
