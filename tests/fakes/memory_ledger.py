"""An in-memory ledger."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from council.budget_caps import Account, CapRefusal, Caps, CapUsage, Scope, find_refusal
from council.money import Spending


@dataclass(slots=True)
class _Line:
    """What a round has reserved in all and spent on one day."""

    account: Account
    reserved: int = 0
    spent: int = 0
    unknown_calls: int = 0


class MemoryLedger:
    """Money in a dictionary."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, date], _Line] = {}
        self._deferred: list[tuple[Account, int | None]] = []

    async def reserve(self, account: Account, micro: int, caps: Caps) -> CapRefusal | None:
        if self._of(account.round_id):
            return None
        return self._reserve(account, micro, caps)

    async def extend(self, account: Account, micro: int, caps: Caps) -> CapRefusal | None:
        reserved = 0
        for line in self._of(account.round_id):
            if line.account.day == account.day:
                reserved = line.reserved
            else:
                micro -= line.spent
                line.reserved = 0
        return None if micro <= reserved else self._reserve(account, micro, caps)

    def defer(self, account: Account, cost: int | None) -> None:
        self._deferred.append((account, cost))

    async def settle(self, account: Account, *costs: int | None) -> None:
        own = [one for one in self._deferred if one[0].round_id == account.round_id]
        self._deferred = [one for one in self._deferred if one not in own]
        for payer, cost in [*own, *((account, cost) for cost in costs)]:
            self._add(payer, cost)

    def _add(self, account: Account, *costs: int | None) -> None:
        line = self._line(account)
        line.spent += sum(cost or 0 for cost in costs)
        line.unknown_calls += costs.count(None)

    async def release(self, round_id: str) -> None:
        for line in self._of(round_id):
            line.reserved = 0

    def disown(self, round_id: str) -> None:
        for line in self._of(round_id):
            line.account = replace(line.account, asker="")

    async def list_reserved_rounds(self) -> tuple[str, ...]:
        held = {line.account.round_id for line in self._lines.values() if line.reserved}
        return tuple(sorted(held))

    async def spent(self, round_id: str) -> Spending:
        lines = [Spending(line.spent, line.unknown_calls) for line in self._of(round_id)]
        return sum(lines, Spending())

    async def spent_by_round(self, round_ids: Sequence[str]) -> Mapping[str, Spending]:
        spent = {id_: await self.spent(id_) for id_ in round_ids}
        return {id_: one for id_, one in spent.items() if one != Spending()}

    async def usage(self, account: Account) -> Mapping[Scope, CapUsage]:
        return _used(account, list(self._lines.values()))

    def _reserve(self, account: Account, micro: int, caps: Caps) -> CapRefusal | None:
        own = account.round_id, account.day
        others = [line for key, line in self._lines.items() if key != own]
        refused = find_refusal(caps, _used(account, others), micro)
        if refused is None:
            self._line(account).reserved = micro
        return refused

    def _line(self, account: Account) -> _Line:
        return self._lines.setdefault((account.round_id, account.day), _Line(account))

    def _of(self, round_id: str) -> list[_Line]:
        return [line for line in self._lines.values() if line.account.round_id == round_id]


def _used(account: Account, lines: list[_Line]) -> dict[Scope, CapUsage]:
    return {
        scope: _sum([line for line in lines if _shares(account, scope, line.account)])
        for scope in account.scopes
    }


_NAMES = {
    Scope.USER_DAY: "asker",
    Scope.CHANNEL_DAY: "channel",
    Scope.WORKSPACE_DAY: "workspace",
    Scope.SCHEDULE_DAY: "schedule",
}


def _shares(account: Account, scope: Scope, other: Account) -> bool:
    """Return whether another account counts under the same cap of this scope."""
    if scope is Scope.MONTH:
        first, after = account.month
        return first <= other.day < after
    name = _NAMES.get(scope, "day")
    return account.day == other.day and getattr(account, name) == getattr(other, name)


def _sum(lines: list[_Line]) -> CapUsage:
    return CapUsage(
        sum(line.spent for line in lines),
        sum(max(0, line.reserved - line.spent) for line in lines),
        sum(line.unknown_calls for line in lines),
    )
