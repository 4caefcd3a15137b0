"""Budget of a bake-off: its own cap to the last micro-dollar, and the caps of everybody."""

import asyncio

import pytest

from bot.bakeoffs.lifecycle import load_progress, reopen_bakeoff, run_bakeoff
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.bakeoffs import bakeoff_summary_document, progress_summary
from bot.bakeoffs.runner import BakeoffBudget, BakeoffRunner, new_question_round
from bot.context import AppContext
from bot.coordination.clock import now
from bot.runners.local import LocalRunner
from council.bakeoffs.models import Bakeoff, BakeoffProgress
from council.budget import Budget, estimate_round
from council.budget_caps import Caps
from council.errors import BudgetError
from council.money import Spending, format_usd
from tests.bot.app_fakes import Room, an_app, ready
from tests.bot.bakeoffs.fakes import DEAR, a_bakeoff, a_suite, store_bakeoff
from tests.builders import KEYS
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_ledger import MemoryLedger
from tests.fakes.memory_store import MemoryStore

PRICES = dict.fromkeys(KEYS, DEAR)
NO_CAPS = Caps()


def a_paying_app(
    gateway: FakeGateway, caps: Caps = NO_CAPS, store: MemoryStore | None = None
) -> AppContext:
    app = an_app(gateway, store)
    app.budget = Budget(MemoryLedger(), caps, now)
    app.runner = LocalRunner(app.store, gateway, ready, paying=app.budget.paying)
    return app


async def spent(app: AppContext, bakeoff: Bakeoff) -> int:
    numbers = range(1, len(bakeoff.suite.questions) + 1)
    return sum([(await app.budget.ledger.spent(bakeoff.round_id(n))).micro for n in numbers])


async def expected_of(app: AppContext, bakeoff: Bakeoff) -> int:
    return (await estimate_round(new_question_round(app, bakeoff, 1), app.gateway)).micro


async def test_no_round_starts_that_may_exceed_the_cap() -> None:
    gateway = FakeGateway(prices=PRICES)
    app, chat = a_paying_app(gateway), Room()
    one = await expected_of(app, a_bakeoff())
    bakeoff = await store_bakeoff(app, a_bakeoff(a_suite(12), cap=int(3.5 * one)))

    progress = await run_bakeoff(app, chat, bakeoff)

    assert 0 < progress.over < 12
    assert progress.spent_micro == await spent(app, bakeoff) <= int(3.5 * one)
    assert one > int(3.5 * one) - progress.spent_micro  # the next would not have fitted
    assert f"exceed the bake-off's cap of {format_usd(int(3.5 * one))}" in chat.edited[-1]
    assert "[Resume]" in chat.edited[-1]
    assert "bo:beef" not in chat.edited[-1]
    assert " left" not in chat.edited[-1].partition("exceed")[0]
    assert progress.seconds_left is None
    again = await bakeoff_stores(app).bakeoffs.load(bakeoff.id)
    assert (await load_progress(app, again)).seconds_left is None
    assert not await app.budget.ledger.list_reserved_rounds()


async def test_a_bakeoff_that_its_cap_stops_counts_no_time_down() -> None:
    app, seen = a_paying_app(FakeGateway(prices=PRICES)), list[BakeoffProgress]()
    one = await expected_of(app, a_bakeoff())
    bakeoff = await store_bakeoff(app, a_bakeoff(a_suite(12), cap=int(8.5 * one)))
    runner = BakeoffRunner(app, bakeoff, seen.append, asyncio.Event())
    await runner.load_state()

    blocked = await runner.run()

    assert blocked is not None
    assert [one.seconds_left for one in seen if one.seconds_left] != []
    assert (seen[-1].seconds_left, runner.progress.seconds_left) == (None, None)
    assert " left" not in progress_summary(seen[-1])


async def test_under_a_higher_cap_a_bakeoff_resumes_and_asks_nothing_twice() -> None:
    gateway = FakeGateway(prices=PRICES)
    app = a_paying_app(gateway)
    one = await expected_of(app, a_bakeoff())
    bakeoff = await store_bakeoff(app, a_bakeoff(a_suite(4), cap=one))
    first = await run_bakeoff(app, None, bakeoff)

    second = await run_bakeoff(app, None, await reopen_bakeoff(app, bakeoff, 100 * one))

    assert first.over < 4 == second.over
    assert second.bakeoff.ending
    assert second.bakeoff.ending.failure is None
    assert len(gateway.asked) == 4 * (3 + 3 + 1)


async def test_a_spent_daily_budget_ends_a_bakeoff_that_can_be_resumed() -> None:
    gateway = FakeGateway(prices=PRICES)
    probe = a_paying_app(gateway)
    one = await expected_of(probe, a_bakeoff())
    app, chat = a_paying_app(gateway, Caps(day=int(1.5 * one))), Room()
    bakeoff = await store_bakeoff(app, a_bakeoff(a_suite(6)))

    progress = await run_bakeoff(app, chat, bakeoff)

    assert 0 < progress.over < 6
    assert "is left of the budget of" in chat.edited[-1]
    assert "[Resume]" in chat.edited[-1]
    (loud,) = [words for words in chat.said_in("C1") if "ended early" in words]
    assert "is left of the budget of" in loud
    assert "[Resume]" in loud
    stored = await bakeoff_stores(app).bakeoffs.load(bakeoff.id)
    assert stored.ending
    assert stored.ending.failure
    assert (await reopen_bakeoff(app, bakeoff)).ending is None


async def test_an_unknown_cost_is_never_shown_as_nothing() -> None:
    gateway = FakeGateway(prices=dict.fromkeys(KEYS))
    app, chat = a_paying_app(gateway), Room()
    bakeoff = await store_bakeoff(app, a_bakeoff(a_suite(2), cap=2_000_000))

    progress = await run_bakeoff(app, chat, bakeoff)
    again = await run_bakeoff(app, None, bakeoff)  # from what is stored

    calls = 2 * (3 + 3 + 1)
    said = [*chat.edited, *chat.said_in("C1")]
    assert f"cost unknown for {calls} calls" in chat.edited[-1]
    assert not [words for words in said if "cost unknown for" in words and "$0 spent" in words]
    document = bakeoff_summary_document(progress)
    assert (document["cost_usd"], document["known_cost_usd"]) == (None, 0)
    assert document["unknown_calls"] == again.unknown_calls == calls


def test_no_two_rounds_are_promised_the_same_money() -> None:
    budget = BakeoffBudget(100)

    first = budget.reserve(1, 40, None)
    second = budget.reserve(2, 20, None)

    assert (first, second) == (80, 20)
    with pytest.raises(BudgetError, match="which would exceed the bake-off's cap of"):
        budget.reserve(3, 1, None)
    budget.settle(1, Spending(30))
    assert budget.reserve(3, 50, None) == 50
    assert budget.spent == Spending(30)


def test_the_lower_of_the_panels_and_the_bake_offs_cap_holds() -> None:
    budget = BakeoffBudget(100)

    assert budget.reserve(1, 40, 30) == 30
    assert BakeoffBudget(None).reserve(1, 40, 30) == 30
    assert BakeoffBudget(None).reserve(1, 40, None) is None


def test_a_resumed_round_reserves_its_cap_again() -> None:
    budget = BakeoffBudget(100)
    budget.settle(1, Spending(60))
    budget.settle(2, Spending(30))

    with pytest.raises(BudgetError):
        budget.reserve(2, 50, 50)
    assert budget.spent == Spending(90)
    budget.reserve(2, 40, 40)

    assert budget.spent == Spending(60)
    with pytest.raises(BudgetError):
        budget.reserve(3, 1, None)
