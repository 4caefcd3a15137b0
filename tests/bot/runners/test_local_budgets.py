"""Rounds that run at once in one process share one budget, and none of it is spent twice."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.bakeoffs.bias_report import bias_report
from bot.chat import Asker, IncomingMessage
from bot.commands.ask import open_round
from bot.context import AppContext
from bot.outbox import Outbox
from bot.research.services import ResearchServices
from bot.runners.local import LocalRunner
from council.answers import Call, Reply
from council.budget import Budget
from council.budget_caps import Account, Caps, CapUsage, Scope
from council.errors import BudgetError, StoreError
from council.money import Price
from council.panel import Panel
from council.places import Place
from council.registry import NO_PLUGINS
from council.rounds import Round, Stage
from storage.engine import open_engine
from storage.ledger import SqlLedger
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from tests.builders import KEYS, a_panel
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_bakeoffs import memory_bench
from tests.fakes.memory_experiments import MemoryExperiments
from tests.fakes.memory_key_value import MemoryKeyValueStore
from tests.fakes.memory_store import MemoryStore
from tests.sqlite import new_file

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CALLS = 7  # three answers, three ballots, a synthesis
CALL_MICRO = 2_500  # 100 tokens at 25 dollars a million
ADMITTED = 20
CAPS = Caps(day=ADMITTED * CALLS * CALL_MICRO)


class Metered(FakeGateway):
    """A fake whose every reply is as long as it may be, and costs what that costs."""

    async def complete(self, call: Call) -> Reply:
        reply = await super().complete(call)
        return replace(reply, tokens_out=100, cost_usd=100 * 25e-6)


async def nothing(_: Panel) -> None:
    """Every model is ready."""


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[AppContext]:
    """Return an AppContext over a real database and a fake gateway with prices."""
    engine = open_engine(new_file(tmp_path))
    store, gateway = (
        SqlRoundStore(engine),
        Metered(prices=dict.fromkeys(KEYS, Price(0, 25e-6, 100))),
    )
    budget = Budget(SqlLedger(engine), CAPS, lambda: NOON)
    runner = LocalRunner(store, gateway, nothing, paying=budget.paying)
    panels = {"house": a_panel(3)}
    outbox = Outbox(SqlOutbox(engine), lambda: NOON)
    parts = (store, gateway, runner, outbox, panels, "house", nothing)
    bench = memory_bench(MemoryStore())
    apart = MemoryExperiments()
    key_values = MemoryKeyValueStore()
    yield AppContext(
        *parts,
        now=lambda: NOON,
        budget=budget,
        bakeoff_stores=bench,
        research=ResearchServices(apart),
        key_values=key_values,
        registry=NO_PLUGINS,
        measure_bias=bias_report,
    )
    await runner.close()
    await engine.dispose()


def a_message(key: str, text: str = "Why?") -> IncomingMessage:
    return IncomingMessage(text, Asker("U1", "Ada"), Place("slack", "T1", "C1"), key)


async def gone(app: AppContext) -> CapUsage:
    return (await app.budget.ledger.usage(Account("", NOON.date())))[Scope.DAY]


async def held(app: AppContext, key: str) -> Round | None:
    """Ask, and give the closed round; None where it was refused."""
    try:
        round_ = await open_round(app, a_message(key))
    except BudgetError:
        return None
    assert round_
    app.runner.start(round_)
    async with app.runner.subscribe(round_.id) as sights:
        closed = [sight.round_ async for sight in sights][-1]
    while app.runner.latest(round_.id):  # noqa: ASYNC110 - its accounts are closed last
        await asyncio.sleep(0.01)
    return closed


async def test_of_fifty_rounds_at_once_twenty_fit_and_the_cap_is_spent_exactly(
    app: AppContext,
) -> None:
    rounds = await asyncio.gather(*(held(app, f"r{i}") for i in range(50)))

    closed = [round_ for round_ in rounds if round_]
    assert len(closed) == ADMITTED
    assert {round_.stage for round_ in closed} == {Stage.CLOSED}
    assert [round_.absences for round_ in closed] == [()] * ADMITTED
    assert await gone(app) == CapUsage(CAPS.day or 0, 0)
    assert len(await app.store.list_summaries()) == ADMITTED
    assert len(app.gateway.asked) == ADMITTED * CALLS  # type: ignore[attr-defined]


async def test_an_event_that_comes_twice_is_paid_once(app: AppContext) -> None:
    first = await held(app, "r1")

    again = await open_round(app, a_message("r1"))

    assert first
    assert again is None
    assert await gone(app) == CapUsage(CALLS * CALL_MICRO, 0)


async def test_a_round_resumed_after_a_crash_is_reserved_for_once(app: AppContext) -> None:
    round_ = await open_round(app, a_message("r1"))
    assert round_
    before = await gone(app)  # and then the process died

    app.runner.start(round_)
    async with app.runner.subscribe("r1") as sights:
        during = [await gone(app) async for _ in sights]

    assert before == CapUsage(0, CALLS * CALL_MICRO)
    assert {used.total for used in during} == {CALLS * CALL_MICRO}


async def test_a_round_that_cannot_be_stored_releases_its_budget(app: AppContext) -> None:
    class Full(MemoryStore):
        async def open(self, round_: Round) -> bool:
            raise StoreError("The disk is full.")

    app.store = Full()

    with pytest.raises(StoreError):
        await open_round(app, a_message("r1"))

    assert await gone(app) == CapUsage()
