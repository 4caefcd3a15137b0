"""How budgets read: what is spent, what is reserved, what is left."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from bot.chat import Heading, Note, Post, Table
from bot.render.formatting import counted
from council.budget_caps import Caps, CapUsage, Scope
from council.money import MICRO, dollars

_NAMES = {
    Scope.USER_DAY: "You, today",
    Scope.CHANNEL_DAY: "Here, today",
    Scope.WORKSPACE_DAY: "This workspace, today",
    Scope.SCHEDULE_DAY: "This schedule, today",
    Scope.DAY: "Everybody, today",
    Scope.MONTH: "Everybody, this month",
}
_COLUMNS = ("Budget", "Spent", "Reserved", "Cap", "Left")


def budget_post(caps: Caps, used: Mapping[Scope, CapUsage]) -> Post:
    """Give the table of budgets, a row for each that concerns whoever asks."""
    rows = tuple(
        (
            _NAMES[scope],
            dollars(gone.spent),
            dollars(gone.reserved),
            *_cap_and_rest(caps.of(scope), gone),
        )
        for scope, gone in used.items()
    )
    notes = ["Days and months are UTC. Reserved is for rounds under way."]
    if unknown := used[Scope.MONTH].unknown_calls:
        notes.append(f"Not counted: {counted(unknown, 'call')} of unknown cost this month.")
    if not caps.unknown_prices:
        notes.append("Models of unknown price are not asked.")
    table = Table(_COLUMNS, rows, numeric=frozenset(range(1, len(_COLUMNS))))
    return Post((Heading("Budget"), table, Note(" ".join(notes))))


def _cap_and_rest(cap: int | None, gone: CapUsage) -> tuple[str, str]:
    if cap is None:
        return "none", "no cap"
    return dollars(cap), dollars(max(0, cap - gone.total))


def budget_document(day: date, caps: Caps, used: Mapping[Scope, CapUsage]) -> dict[str, Any]:
    """Give the same as a document; amounts in USD, null where there is no cap."""
    return {
        "day": day.isoformat(),
        "unknown_prices": "allowed" if caps.unknown_prices else "forbidden",
        "budgets": [_scope_document(scope, caps.of(scope), gone) for scope, gone in used.items()],
    }


def _scope_document(scope: Scope, cap: int | None, gone: CapUsage) -> dict[str, Any]:
    return {
        "scope": scope.value,
        "spent_usd": gone.spent / MICRO,
        "reserved_usd": gone.reserved / MICRO,
        "cap_usd": None if cap is None else cap / MICRO,
        "left_usd": None if cap is None else max(0, cap - gone.total) / MICRO,
        "unknown_calls": gone.unknown_calls,
    }
