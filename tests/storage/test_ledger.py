"""The contract of every ledger; no interleaving exceeds a cap, in several processes either."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from council.budget_caps import Account, Caps, CapUsage, Scope
from council.money import Spending
from council.ports import Ledger
from storage.engine import open_engine
from storage.ledger import SqlLedger
from tests.fakes.memory_ledger import MemoryLedger
from tests.storage.builders import BOTH, in_memory_too

TODAY, TOMORROW, NEXT_MONTH = date(2026, 11, 29), date(2026, 11, 30), date(2026, 12, 1)
NOBODY = Account("", TODAY)
FREE = Caps()


def an_account(round_id: str = "r1", day: date = TODAY, **who: str) -> Account:
    return Account(round_id, day, **who)


async def usage_of(ledger: Ledger, scope: Scope = Scope.DAY, account: Account = NOBODY) -> CapUsage:
    return (await ledger.usage(account))[scope]


async def test_money_is_reserved_then_spent_then_released(ledger: Ledger) -> None:
    assert await ledger.reserve(an_account(), 90, FREE) is None
    assert await usage_of(ledger) == CapUsage(0, 90)
    assert await ledger.spent("r1") == Spending(0)
    assert await ledger.list_reserved_rounds() == ("r1",)

    for cost in (30, 20):
        await ledger.settle(an_account(), cost)
    assert await usage_of(ledger) == CapUsage(50, 40)
    assert await ledger.spent("r1") == Spending(50)

    await ledger.release("r1")
    assert await usage_of(ledger) == CapUsage(50, 0)
    assert await ledger.list_reserved_rounds() == ()


async def test_the_spending_of_many_rounds_is_read_at_once(ledger: Ledger) -> None:
    await ledger.settle(an_account(), 30)
    await ledger.settle(an_account(day=TOMORROW), 4)
    await ledger.settle(an_account("r2"), 5)
    await ledger.reserve(an_account("r3"), 9, FREE)
    await ledger.settle(an_account("r5"), None)
    await ledger.settle(an_account("r5", day=TOMORROW), None, 7, None)

    spent = await ledger.spent_by_round(["r1", "r3", "r4", "r5"])

    assert spent == {"r1": Spending(34), "r5": Spending(7, 3)}
    assert await ledger.spent("r5") == Spending(7, 3)


async def test_spending_beyond_the_reservation_counts(ledger: Ledger) -> None:
    await ledger.reserve(an_account(), 10, FREE)
    await ledger.settle(an_account(), 30)

    refused = await ledger.reserve(an_account("r2"), 71, Caps(day=100))

    assert await usage_of(ledger) == CapUsage(30, 0)
    assert refused


async def test_an_unknown_cost_is_counted_as_unknown(ledger: Ledger) -> None:
    await ledger.settle(an_account(), None)
    await ledger.settle(an_account(), 5)
    await ledger.settle(an_account(), None)

    assert await usage_of(ledger) == CapUsage(5, 0, 2)


async def test_a_refused_reservation_leaves_no_trace(ledger: Ledger) -> None:
    await ledger.reserve(an_account(), 90, Caps(day=100))

    refused = await ledger.reserve(an_account("r2"), 11, Caps(day=100))

    assert refused
    assert (refused.scope, refused.cap, refused.used) == (Scope.DAY, 100, CapUsage(0, 90))
    assert await ledger.list_reserved_rounds() == ("r1",)


@in_memory_too
@pytest.mark.parametrize(
    ("other", "fits"),
    [
        pytest.param(an_account("r2", asker="U2", channel="C2", schedule="S2"), True, id="all"),
        pytest.param(an_account("r2", asker="U1"), False, id="same-user"),
        pytest.param(an_account("r2", channel="slack/T1/C1"), False, id="same-channel"),
        pytest.param(an_account("r2", channel="slack/T2/C1"), True, id="another-workspace"),
        pytest.param(an_account("r2", channel="slack/T1/C9"), False, id="same-workspace"),
        pytest.param(an_account("r2", channel="slack/T10/C9"), True, id="like-named-workspace"),
        pytest.param(an_account("r2", channel="Slack/t1/C9"), True, id="spelt-otherwise"),
        pytest.param(an_account("r2", schedule="S1"), False, id="same-schedule"),
        pytest.param(an_account("r2"), True, id="nobody"),
        pytest.param(an_account("r2", TOMORROW, asker="U1"), True, id="next-day"),
    ],
)
async def test_each_cap_counts_its_own_accounts(
    ledger: Ledger, other: Account, *, fits: bool
) -> None:
    caps = Caps(user_day=100, channel_day=100, workspace_day=100, schedule_day=100)
    whole = an_account(asker="U1", channel="slack/T1/C1", schedule="S1")
    await ledger.reserve(whole, 90, caps)

    assert (await ledger.reserve(other, 11, caps) is None) is fits


@pytest.mark.parametrize(("day", "fits"), [(TOMORROW, False), (NEXT_MONTH, True)])
async def test_a_month_is_a_calendar_month(ledger: Ledger, day: date, *, fits: bool) -> None:
    caps = Caps(month=100)
    await ledger.reserve(an_account(), 90, caps)

    assert (await ledger.reserve(an_account("r2", day), 11, caps) is None) is fits
    assert await usage_of(ledger, Scope.MONTH, Account("", NEXT_MONTH)) == CapUsage(0, 11 * fits)


async def test_a_round_is_reserved_for_once(ledger: Ledger) -> None:
    caps = Caps(day=100)
    await ledger.reserve(an_account(), 90, caps)

    assert await ledger.reserve(an_account(), 90, caps) is None
    assert await ledger.reserve(an_account(day=TOMORROW), 90, caps) is None

    assert await usage_of(ledger, Scope.MONTH) == CapUsage(0, 90)


async def test_a_round_that_ended_is_not_reserved_for_again(ledger: Ledger) -> None:
    await ledger.reserve(an_account(), 90, FREE)
    await ledger.release("r1")

    await ledger.reserve(an_account(), 90, FREE)

    assert await usage_of(ledger) == CapUsage(0, 0)


async def test_extending_by_nothing_reserves_nothing_more(ledger: Ledger) -> None:
    caps = Caps(day=100)
    await ledger.reserve(an_account(), 90, caps)
    await ledger.settle(an_account(), 30)

    assert await ledger.extend(an_account(), 90, caps) is None

    assert await usage_of(ledger) == CapUsage(30, 60)


async def test_a_reservation_grows_while_it_fits(ledger: Ledger) -> None:
    caps = Caps(day=100)
    await ledger.reserve(an_account(), 60, caps)

    assert await ledger.extend(an_account(), 100, caps) is None
    refused = await ledger.extend(an_account(), 101, caps)

    assert refused
    assert refused.used == CapUsage(0, 0)
    assert await usage_of(ledger) == CapUsage(0, 100)


async def test_a_released_reservation_is_made_again_for_the_rest(ledger: Ledger) -> None:
    await ledger.reserve(an_account(), 90, FREE)
    await ledger.settle(an_account(), 30)
    await ledger.release("r1")

    await ledger.extend(an_account(), 90, FREE)

    assert await usage_of(ledger) == CapUsage(30, 60)


async def test_a_round_on_another_day_takes_its_reservation_along(
    ledger: Ledger,
) -> None:
    caps = Caps(day=60, month=90)
    await ledger.reserve(an_account(), 60, caps)
    await ledger.settle(an_account(), 30)

    assert await ledger.extend(an_account(day=TOMORROW), 90, caps) is None
    await ledger.settle(an_account(day=TOMORROW), 10)

    assert await usage_of(ledger) == CapUsage(30, 0)
    assert await usage_of(ledger, account=Account("", TOMORROW)) == CapUsage(10, 50)
    assert await usage_of(ledger, Scope.MONTH) == CapUsage(40, 50)
    assert await ledger.spent("r1") == Spending(40)


async def test_sums_are_exact(ledger: Ledger) -> None:
    for cost in (1, 10**15, 1, 10**15):
        await ledger.settle(an_account(), cost)

    assert await usage_of(ledger) == CapUsage(2 * 10**15 + 2, 0)


async def test_an_empty_ledger_reports_no_usage(ledger: Ledger) -> None:
    account = an_account(asker="U1", channel="slack/T1/C1", schedule="S1")

    assert await ledger.usage(account) == dict.fromkeys(Scope, CapUsage())
    assert (await ledger.list_reserved_rounds(), await ledger.spent("r1")) == ((), Spending())


@pytest.fixture
async def ledgers(migrated_url: str) -> AsyncIterator[list[SqlLedger]]:
    """Return the ledgers of three processes."""
    engines = [open_engine(migrated_url) for _ in range(3)]
    yield [SqlLedger(engine) for engine in engines]
    for engine in engines:
        await engine.dispose()


def account(number: int) -> Account:
    return Account(f"r{number}", TODAY, f"U{number}")


async def test_calls_that_cost_more_than_estimated_do_not_pass_the_cap_together(
    ledgers: list[SqlLedger],
) -> None:
    cap = Caps(day=100)
    for number in range(10):
        await ledgers[0].reserve(account(number), 5, cap)

    refused = await asyncio.gather(
        *(ledgers[number % 3].extend(account(number), 20, cap) for number in range(10))
    )

    # Ten times 5 leave 50, and each further 15.
    assert refused.count(None) == 3
    assert (await ledgers[1].usage(NOBODY))[Scope.DAY].reserved == 95


async def test_costs_of_several_processes_are_added_up(
    ledgers: list[SqlLedger],
) -> None:
    await asyncio.gather(*(ledgers[number % 3].settle(account(1), 7) for number in range(60)))

    assert await ledgers[2].spent("r1") == Spending(420)


CAPS = Caps(user_day=60, channel_day=70, workspace_day=80, schedule_day=50, day=100, month=150)
ROUNDS = 6
FEW = settings(
    deadline=None,
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
DATABASES = BOTH


@dataclass(frozen=True, slots=True)
class Step:
    """What one round does next; `micro` is an amount or a share of what it may still spend."""

    act: str
    round_: int
    micro: int
    tomorrow: bool


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(["reserve", "extend", "settle", "free"]),
        st.integers(0, ROUNDS - 1),
        st.integers(1, 60),
        st.booleans(),
    ),
    max_size=40,
)


@pytest.fixture(scope="module")
def months() -> Iterator[int]:
    """Count months, so that one ledger serves many examples."""
    return count()


class Walk:
    """Rounds that take steps in one ledger, each spending only what it has reserved."""

    def __init__(self, ledger: Ledger, month: int) -> None:
        self.ledger = ledger
        self.name = f"m{month}"
        self.first = (date(2000, 1, 1) + timedelta(days=32 * month)).replace(day=10)
        self.covered: dict[str, tuple[Account, int]] = {}
        self.answers: list[object] = []

    def account(self, step: Step) -> Account:
        i = step.round_
        day = self.first + timedelta(days=step.tomorrow)
        return Account(
            round_id=f"{self.name}-r{i}",
            day=day,
            asker=f"{self.name}-U{i % 3}",
            channel=f"slack/{self.name}-T{i % 2}/C{i // 4}",
            schedule=f"{self.name}-S{i // 4}",
        )

    async def take(self, step: Step) -> None:
        account = self.account(step)
        spent = (await self.ledger.spent(account.round_id)).micro
        if step.act == "reserve":
            self.answers.append(await self.ledger.reserve(account, step.micro, CAPS))
        elif step.act == "extend":
            await self.extend(account, spent + step.micro)
        elif step.act == "settle" and account.round_id in self.covered:
            today, most = self.covered[account.round_id]
            await self.ledger.settle(today, min(step.micro, most - spent))
        elif step.act == "free":
            await self.ledger.release(account.round_id)
            self.covered.pop(account.round_id, None)

    async def extend(self, account: Account, micro: int) -> None:
        before = self.covered.get(account.round_id)
        refused = await self.ledger.extend(account, micro, CAPS)
        self.answers.append(refused)
        if refused is None:
            self.covered[account.round_id] = (account, micro)
        elif before and before[0] != account:
            del self.covered[account.round_id]

    async def gone(self) -> dict[tuple[Scope, Account], CapUsage]:
        accounts = {
            self.account(Step("", i, 0, tomorrow))
            for i in range(ROUNDS)
            for tomorrow in (False, True)
        }
        return {
            (scope, account): used
            for account in accounts
            for scope, used in (await self.ledger.usage(account)).items()
        }


async def check_caps(sql_ledger: SqlLedger, month: int, taken: list[Step]) -> None:
    """Take steps in a stored ledger and in memory; check the caps after each, and that both agree.

    The ledger in memory is checked after each step, because it is faster; both give the same
    answers and end in the same state.
    """
    stored, in_memory = Walk(sql_ledger, month), Walk(MemoryLedger(), month)

    for step in taken:
        await stored.take(step)
        await in_memory.take(step)
        gone = await in_memory.gone()
        assert all(used.total <= (CAPS.of(scope) or 0) for (scope, _), used in gone.items())
        assert stored.answers == in_memory.answers

    assert await stored.gone() == await in_memory.gone()


@FEW
@given(steps)
async def test_no_cap_is_ever_exceeded(
    sql_ledger: SqlLedger, months: Iterator[int], taken: list[Step]
) -> None:
    await check_caps(sql_ledger, next(months), taken)


@pytest.mark.nightly
@settings(FEW, max_examples=100)
@given(steps)
async def test_no_cap_is_exceeded_in_many_orders(
    sql_ledger: SqlLedger, months: Iterator[int], taken: list[Step]
) -> None:
    await check_caps(sql_ledger, next(months), taken)


async def test_programs_that_reserve_at_once_do_not_overspend(
    engine: AsyncEngine, url: str
) -> None:
    async with AsyncExitStack() as stack:
        engines = [engine, open_engine(url), open_engine(url)]
        for other in engines[1:]:
            stack.push_async_callback(other.dispose)
        ledgers = [SqlLedger(one) for one in engines]
        accounts = [Account(f"r{i}", date(2026, 11, 21)) for i in range(12)]

        refused = await asyncio.gather(
            *(ledgers[i % 3].reserve(a, 10, Caps(day=40)) for i, a in enumerate(accounts))
        )

        assert sum(one is None for one in refused) == 4
        assert (await ledgers[0].usage(accounts[0]))[Scope.DAY] == CapUsage(0, 40)
