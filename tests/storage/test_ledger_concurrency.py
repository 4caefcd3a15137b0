"""Several processes with one cap never spend more than the cap."""

import asyncio
from collections.abc import AsyncIterator
from datetime import date

import pytest

from council.budget_caps import Account, Caps, Scope
from storage.engine import open_engine
from storage.ledger import SqlLedger

TODAY = date(2026, 11, 21)
NOBODY = Account("", TODAY)


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

    assert await ledgers[2].spent("r1") == 420
