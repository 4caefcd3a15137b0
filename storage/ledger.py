"""The ledger in a SQL database: reservations, spending and caps, checked in one transaction."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import and_, bindparam, case, delete, func, not_, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import col

from council.budget_caps import Account, CapRefusal, Caps, CapUsage, Scope, find_refusal
from council.money import Spending
from storage.engine import SqlStore
from storage.tables import SettledRow, SpendingRow, starts_with
from storage.transactions import (
    Lock,
    current_attempt,
    insert,
    insert_once,
    lock_exclusive,
    retried_and_shielded,
)

SETTLED_RETENTION = timedelta(hours=1)

# SQLModel declares columns with the types of their values; Any lets them be compared.
_ID: Any = col(SpendingRow.round_id)
_DAY: Any = col(SpendingRow.day)
_RESERVED: Any = col(SpendingRow.reserved_micro)
_SPENT: Any = col(SpendingRow.spent_micro)
_UNKNOWN: Any = col(SpendingRow.unknown_calls)
_BY_DAY = select(_DAY, _SPENT, _RESERVED, _UNKNOWN).where(bindparam("of") == _ID)
_OUTSTANDING = case((_RESERVED > _SPENT, _RESERVED - _SPENT), else_=0)
_SUMMED = {"spent": _SPENT, "reserved": _OUTSTANDING, "unknown_calls": _UNKNOWN}
_SCOPE_COLUMNS = {
    Scope.USER_DAY: "asker",
    Scope.CHANNEL_DAY: "channel",
    Scope.SCHEDULE_DAY: "schedule",
}


Costs = Sequence[int | None]


class DeferredCosts:
    """The costs of calls that are not stored yet, by round or decision.

    A round store that shares them stores a round's costs with the replies that they paid for.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[tuple[Account, int | None]]] = {}

    def add(self, account: Account, *costs: int | None) -> None:
        """Add the costs of an account's calls."""
        waiting = self._waiting.setdefault(account.round_id, [])
        waiting += [(account, cost) for cost in costs]

    def take(self, round_id: str) -> Sequence[tuple[Account, Costs]]:
        """Return the costs of a round, and forget them."""
        costs: dict[Account, list[int | None]] = {}
        for account, cost in self._waiting.pop(round_id, ()):
            costs.setdefault(account, []).append(cost)
        return [*costs.items()]


class SqlLedger(SqlStore):
    """The ledger; amounts are in micro-dollars.

    With a round store that shares `deferred`, costs are stored with the replies.
    """

    def __init__(self, engine: AsyncEngine, deferred: DeferredCosts | None = None) -> None:
        super().__init__(engine)
        self._deferred = DeferredCosts() if deferred is None else deferred

    @retried_and_shielded
    async def reserve(self, account: Account, micro: int, caps: Caps) -> CapRefusal | None:
        """Reserve an amount for a new round; return the cap that it would exceed, if any."""
        async with self._write() as connection:
            await lock_exclusive(connection, Lock.RESERVING)
            if await _usage_by_day(connection, account.round_id):
                return None
            return await _reserve(connection, account, micro, caps)

    @retried_and_shielded
    async def extend(self, account: Account, micro: int, caps: Caps) -> CapRefusal | None:
        """Raise a round's reservation to a total; return the cap that it would exceed, if any."""
        async with self._write() as connection:
            await lock_exclusive(connection, Lock.RESERVING)
            days = await _usage_by_day(connection, account.round_id)
            today = days.pop(account.day, CapUsage())
            if days:
                elsewhere = and_(account.round_id == _ID, account.day != _DAY)
                await connection.execute(_release(elsewhere))
            needed = micro - sum(day.spent for day in days.values())
            if needed <= today.reserved:
                return None
            return await _reserve(connection, account, needed, caps)

    def defer(self, account: Account, cost: int | None) -> None:
        """Keep the cost of a call until the next `settle`, or until its reply is stored."""
        self._deferred.add(account, cost)

    async def settle(self, account: Account, *costs: int | None) -> None:
        """Add the costs of calls and those deferred; None is a call with an unknown cost."""
        self._deferred.add(account, *costs)
        if taken := self._deferred.take(account.round_id):
            await self._settle(taken)

    @retried_and_shielded
    async def _settle(self, taken: Sequence[tuple[Account, Costs]]) -> None:
        async with self._write() as connection:
            if not await _note_settlement(connection):
                return
            for account, costs in taken:
                await add_costs(connection, account, costs)

    @retried_and_shielded
    async def release(self, round_id: str) -> None:
        """Release what a round has reserved and not spent."""
        async with self._write() as connection:
            await connection.execute(_release(round_id == _ID))
            # The keys of settlements that can no longer be retried.
            if connection.dialect.name != "sqlite":
                old = col(SettledRow.at) < func.now() - SETTLED_RETENTION
                await connection.execute(delete(SettledRow).where(old))

    @retried_and_shielded
    async def list_reserved_rounds(self) -> tuple[str, ...]:
        """Return the ids of the rounds with reservations, sorted."""
        query = select(_ID).where(_RESERVED > 0).distinct()
        return tuple(sorted(await self._fetch_column(query)))

    @retried_and_shielded
    async def spent(self, round_id: str) -> Spending:
        """Return what a round has spent on all days."""
        return (await self._spent_by_round([round_id])).get(round_id, Spending())

    @retried_and_shielded
    async def spent_by_round(self, round_ids: Sequence[str]) -> Mapping[str, Spending]:
        """Return what each of these rounds has spent, without those that have spent nothing."""
        return await self._spent_by_round(round_ids)

    async def _spent_by_round(self, round_ids: Sequence[str]) -> Mapping[str, Spending]:
        micro, unknown = func.sum(_SPENT), func.sum(_UNKNOWN)
        query = select(_ID, micro, unknown).where(_ID.in_(round_ids)).group_by(_ID)
        async with self._read() as connection:
            rows = await connection.execute(query.having(or_(micro > 0, unknown > 0)))
            return {row[0]: Spending(int(row[1]), int(row[2])) for row in rows}

    @retried_and_shielded
    async def usage(self, account: Account) -> Mapping[Scope, CapUsage]:
        """Return the usage of each cap that applies to the account."""
        async with self._read() as connection:
            return await _usage(connection, account)


async def add_costs(connection: AsyncConnection, account: Account, costs: Costs) -> None:
    """Add the costs of calls to what an account has spent; None is a call with an unknown cost."""
    await _upsert_spending(
        connection,
        account,
        spent_micro=_SPENT + sum(cost or 0 for cost in costs),
        unknown_calls=_UNKNOWN + [*costs].count(None),
    )


async def _usage_by_day(connection: AsyncConnection, round_id: str) -> dict[Any, CapUsage]:
    """Return a round's usage by day; here `reserved` includes what is spent."""
    rows = (await connection.execute(_BY_DAY, {"of": round_id})).all()
    return {day: CapUsage(spent, reserved, unknown) for day, spent, reserved, unknown in rows}


async def _reserve(
    connection: AsyncConnection, account: Account, micro: int, caps: Caps
) -> CapRefusal | None:
    others = not_(and_(account.round_id == _ID, account.day == _DAY))
    refused = find_refusal(caps, await _usage(connection, account, others), micro)
    if refused is None:
        await _upsert_spending(connection, account, reserved_micro=micro)
    return refused


async def _usage(
    connection: AsyncConnection,
    account: Account,
    *conditions: Any,  # noqa: ANN401
) -> dict[Scope, CapUsage]:
    first, after = account.month
    sums = {
        (scope, name): func.sum(case((_counts_under(scope, account), amount), else_=0))
        for scope in account.scopes
        for name, amount in _SUMMED.items()
    }
    query = select(*sums.values()).where(first <= _DAY, after > _DAY, *conditions)
    # Postgres returns a decimal for a sum of integers, and null for a sum of no rows.
    amounts = [int(amount or 0) for amount in (await connection.execute(query)).one()]
    by_name = dict(zip(sums, amounts, strict=True))
    return {
        scope: CapUsage(**{name: by_name[scope, name] for name in _SUMMED})
        for scope in account.scopes
    }


def _counts_under(scope: Scope, account: Account) -> Any:  # noqa: ANN401
    """Return the condition for a row of the account's month to count under the scope's cap."""
    if scope is Scope.MONTH:
        return true()
    is_today = account.day == _DAY
    if scope is Scope.DAY:
        return is_today
    if scope is Scope.WORKSPACE_DAY:
        return and_(is_today, starts_with(SpendingRow.channel, f"{account.workspace}/"))
    name = _SCOPE_COLUMNS[scope]
    return and_(is_today, col(getattr(SpendingRow, name)) == getattr(account, name))


async def _upsert_spending(connection: AsyncConnection, account: Account, **values: Any) -> None:  # noqa: ANN401
    names = ("round_id", "day", "asker", "channel", "schedule")
    row = SpendingRow(**{name: getattr(account, name) for name in names})
    await insert(connection, [row])
    own = and_(account.round_id == _ID, account.day == _DAY)
    await connection.execute(update(SpendingRow).where(own).values(**values))


def _release(condition: Any) -> Any:  # noqa: ANN401
    return update(SpendingRow).where(condition).values(reserved_micro=0)


async def _note_settlement(connection: AsyncConnection) -> bool:
    """Store a settlement's key unless an earlier attempt has; SQLite loses no answers."""
    if connection.dialect.name == "sqlite":
        return True
    once = insert_once(SettledRow, connection.dialect.name)
    new = once.values(key=current_attempt().key, at=func.now())
    return (await connection.execute(new)).first() is not None
