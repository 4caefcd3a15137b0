"""The contract of every ledger."""

from datetime import date

import pytest

from council.budget_caps import Account, Caps, CapUsage, Scope
from council.ports import Ledger
from tests.storage.builders import in_memory_too

TODAY, TOMORROW, NEXT_MONTH = date(2026, 11, 29), date(2026, 11, 30), date(2026, 12, 1)
NOBODY = Account("", TODAY)
FREE = Caps()


def an_account(round_id: str = "r1", day: date = TODAY, **who: str) -> Account:
    return Account(round_id, day, **who)


async def usage_of(ledger: Ledger, scope: Scope = Scope.DAY, account: Account = NOBODY) -> CapUsage:
    return (await ledger.usage(account))[scope]


async def test_reserved_money_is_not_spent(ledger: Ledger) -> None:
    assert await ledger.reserve(an_account(), 90, FREE) is None

    assert await usage_of(ledger) == CapUsage(0, 90)
    assert await ledger.spent("r1") == 0
    assert await ledger.list_reserved_rounds() == ("r1",)


async def test_spending_uses_up_the_reservation(ledger: Ledger) -> None:
    await ledger.reserve(an_account(), 90, FREE)

    for cost in (30, 20):
        await ledger.settle(an_account(), cost)

    assert await usage_of(ledger) == CapUsage(50, 40)
    assert await ledger.spent("r1") == 50


async def test_releasing_frees_what_is_left(ledger: Ledger) -> None:
    await ledger.reserve(an_account(), 90, FREE)
    await ledger.settle(an_account(), 30)

    await ledger.release("r1")

    assert await usage_of(ledger) == CapUsage(30, 0)
    assert await ledger.list_reserved_rounds() == ()


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


async def test_a_reservation_may_use_up_the_cap(ledger: Ledger) -> None:
    await ledger.reserve(an_account(), 90, Caps(day=100))

    assert await ledger.reserve(an_account("r2"), 10, Caps(day=100)) is None


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
    assert await ledger.spent("r1") == 40


async def test_sums_are_exact(ledger: Ledger) -> None:
    for cost in (1, 10**15, 1, 10**15):
        await ledger.settle(an_account(), cost)

    assert await usage_of(ledger) == CapUsage(2 * 10**15 + 2, 0)


async def test_an_empty_ledger_reports_no_usage(ledger: Ledger) -> None:
    account = an_account(asker="U1", channel="slack/T1/C1", schedule="S1")

    assert await ledger.usage(account) == dict.fromkeys(Scope, CapUsage())
    assert (await ledger.list_reserved_rounds(), await ledger.spent("r1")) == ((), 0)
