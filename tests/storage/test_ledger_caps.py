"""No interleaving of rounds exceeds a cap, and both ledgers agree."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from council.budget_caps import Account, Caps, CapUsage, Scope
from council.ports import Ledger
from storage.engine import open_engine
from storage.ledger import SqlLedger
from tests.fakes.memory_ledger import MemoryLedger
from tests.storage.builders import BOTH

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
        channel = f"slack/{self.name}-T{i % 2}/C{i // 4}"
        who = (f"{self.name}-U{i % 3}", channel, f"{self.name}-S{i // 4}")
        return Account(f"{self.name}-r{i}", day, *who)

    async def take(self, step: Step) -> None:
        account = self.account(step)
        spent = await self.ledger.spent(account.round_id)
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
        accounts = [Account(f"r{i}", date(2026, 11, 21)) for i in range(30)]

        refused = await asyncio.gather(
            *(ledgers[i % 3].reserve(a, 10, Caps(day=100)) for i, a in enumerate(accounts))
        )

        assert sum(one is None for one in refused) == 10
        assert (await ledgers[0].usage(accounts[0]))[Scope.DAY] == CapUsage(0, 100)
