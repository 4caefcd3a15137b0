"""What calls cost is added once, however often a server has to be asked for it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import and_, case, delete, func, literal_column, not_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import col

from council.budget_caps import Account, CapRefusal, Caps, CapUsage, Scope, refusal
from storage.engine import read_only_engine
from storage.tables import SettledRow, SpendingRow
from storage.transactions import (
    Lock,
    current_attempt,
    insert_once,
    lock_exclusive,
    retried_and_shielded,
    transaction,
)

# --- What calls cost is added once, however often a server has to be asked for it.

SETTLED_RETENTION = timedelta(hours=1)


async def note_settlement(connection: AsyncConnection) -> bool:
    """Say whether this act arrives for the first time; it has then. SQLite loses no answer."""
    if connection.dialect.name == "sqlite":
        return True
    noted = insert(SettledRow).values(key=current_attempt().key, at=func.now())
    once: Any = noted.on_conflict_do_nothing().returning(literal_column("1"))
    return (await connection.execute(once)).first() is not None


async def delete_old_settlements(connection: AsyncConnection) -> None:
    """Delete the keys that nobody asks for any more."""
    if connection.dialect.name != "sqlite":
        old = col(SettledRow.at) < func.now() - SETTLED_RETENTION
        await connection.execute(delete(SettledRow).where(old))


# --- The ledger in a SQL database: what is reserved is checked and written in one transaction.

# SQLModel declares columns as the values they hold; compared, they are conditions.
_ID: Any = col(SpendingRow.round_id)
_DAY: Any = col(SpendingRow.day)
_RESERVED: Any = col(SpendingRow.reserved_micro)
_SPENT: Any = col(SpendingRow.spent_micro)
_UNKNOWN: Any = col(SpendingRow.unknown_calls)
_OUTSTANDING = case((_RESERVED > _SPENT, _RESERVED - _SPENT), else_=0)
_SUMMED = {"spent": _SPENT, "reserved": _OUTSTANDING, "unknown_calls": _UNKNOWN}
_SCOPE_COLUMNS = {
    Scope.USER_DAY: "asker",
    Scope.CHANNEL_DAY: "channel",
    Scope.SCHEDULE_DAY: "schedule",
}


class SqlLedger:
    """Money as rows; the same on SQLite and Postgres."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._readers = read_only_engine(engine)

    @retried_and_shielded
    async def reserve(self, account: Account, micro: int, caps: Caps) -> CapRefusal | None:
        """Reserve so much for a new round; give the cap that it does not fit under, if any."""
        async with transaction(self._engine) as connection:
            await lock_exclusive(connection, Lock.RESERVING)
            if await _usage_by_day(connection, account.round_id):
                return None
            return await _reserve(connection, account, micro, caps)

    @retried_and_shielded
    async def extend(self, account: Account, micro: int, caps: Caps) -> CapRefusal | None:
        """Have so much in all reserved for a round; give the cap it does not fit under, if any."""
        async with transaction(self._engine) as connection:
            await lock_exclusive(connection, Lock.RESERVING)
            days = await _usage_by_day(connection, account.round_id)
            today = days.pop(account.day, CapUsage())
            if days:
                elsewhere = and_(account.round_id == _ID, account.day != _DAY)
                await connection.execute(_freed(elsewhere))
            wanted = micro - sum(day.spent for day in days.values())
            if wanted <= today.reserved:
                return None
            return await _reserve(connection, account, wanted, caps)

    @retried_and_shielded
    async def settle(self, account: Account, *costs: int | None) -> None:
        """Add what calls cost; None is a call whose cost nobody knows."""
        async with transaction(self._engine) as connection:
            if not await note_settlement(connection):
                return
            await _upsert_spending(
                connection,
                account,
                spent_micro=_SPENT + sum(cost or 0 for cost in costs),
                unknown_calls=_UNKNOWN + costs.count(None),
            )

    @retried_and_shielded
    async def free(self, round_id: str) -> None:
        """Give back what a round has reserved and not spent."""
        async with transaction(self._engine) as connection:
            await connection.execute(_freed(round_id == _ID))
            await delete_old_settlements(connection)

    @retried_and_shielded
    async def held(self) -> tuple[str, ...]:
        """Give the rounds that have something reserved."""
        query = select(_ID).where(_RESERVED > 0).distinct()
        async with transaction(self._readers) as connection:
            return tuple(sorted((await connection.execute(query)).scalars()))

    @retried_and_shielded
    async def spent(self, round_id: str) -> int:
        """Give what a round has spent on all its days."""
        async with transaction(self._readers) as connection:
            return sum(day.spent for day in (await _usage_by_day(connection, round_id)).values())

    @retried_and_shielded
    async def used(self, account: Account) -> Mapping[Scope, CapUsage]:
        """Give what is gone of each scope that the account falls under."""
        async with transaction(self._readers) as connection:
            return await _usage(connection, account)


async def _usage_by_day(connection: AsyncConnection, round_id: str) -> dict[Any, CapUsage]:
    """Give what a round has spent by day; here `reserved` is all that was, spent or not."""
    query = select(_DAY, _SPENT, _RESERVED, _UNKNOWN).where(round_id == _ID)
    rows = (await connection.execute(query)).all()
    return {day: CapUsage(spent, reserved, unknown) for day, spent, reserved, unknown in rows}


async def _reserve(
    connection: AsyncConnection, account: Account, micro: int, caps: Caps
) -> CapRefusal | None:
    others = not_(and_(account.round_id == _ID, account.day == _DAY))
    refused = refusal(caps, await _usage(connection, account, others), micro)
    if refused is None:
        await _upsert_spending(connection, account, reserved_micro=micro)
    return refused


async def _usage(
    connection: AsyncConnection,
    account: Account,
    *among: Any,  # noqa: ANN401
) -> dict[Scope, CapUsage]:
    first, after = account.month
    sums = {
        (scope, name): func.sum(case((_counts_under(scope, account), amount), else_=0))
        for scope in account.scopes
        for name, amount in _SUMMED.items()
    }
    query = select(*sums.values()).where(first <= _DAY, after > _DAY, *among)
    # Postgres sums integers to a decimal, and nothing to null.
    found = [int(amount or 0) for amount in (await connection.execute(query)).one()]
    by_name = dict(zip(sums, found, strict=True))
    return {
        scope: CapUsage(**{name: by_name[scope, name] for name in _SUMMED})
        for scope in account.scopes
    }


def _counts_under(scope: Scope, account: Account) -> Any:  # noqa: ANN401
    """Give the condition that a row of the account's month counts under its cap."""
    if scope is Scope.MONTH:
        return account.month[0] <= _DAY
    if scope is Scope.DAY:
        return account.day == _DAY
    if scope is Scope.WORKSPACE_DAY:
        start = f"{account.workspace}/"
        there = func.substr(col(SpendingRow.channel), 1, len(start)) == start
        return and_(account.day == _DAY, there)
    name = _SCOPE_COLUMNS[scope]
    return and_(account.day == _DAY, col(getattr(SpendingRow, name)) == getattr(account, name))


async def _upsert_spending(connection: AsyncConnection, account: Account, **values: Any) -> None:  # noqa: ANN401
    row = SpendingRow(
        round_id=account.round_id,
        day=account.day,
        asker=account.asker,
        channel=account.channel,
        schedule=account.schedule,
    )
    insert = insert_once(SpendingRow, connection.dialect.name)
    await connection.execute(insert, [row.model_dump()])
    own = and_(account.round_id == _ID, account.day == _DAY)
    await connection.execute(update(SpendingRow).where(own).values(**values))


def _freed(which: Any) -> Any:  # noqa: ANN401
    return update(SpendingRow).where(which).values(reserved_micro=0)
