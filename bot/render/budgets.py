"""Renderer of budgets: what is spent, reserved and left, as a post and as JSON."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from bot.chat import Heading, Note, Post
from bot.render.formatting import count_noun, number_table
from council.budget_caps import Caps, CapUsage, Scope
from council.money import MICRO_USD, format_usd

_NAMES = {
    Scope.USER_DAY: "You, today",
    Scope.CHANNEL_DAY: "Here, today",
    Scope.WORKSPACE_DAY: "This workspace, today",
    Scope.SCHEDULE_DAY: "This schedule, today",
    Scope.DAY: "Everybody, today",
    Scope.MONTH: "Everybody, this month",
}


def budget_post(caps: Caps, usage_by_scope: Mapping[Scope, CapUsage]) -> Post:
    """Return the table of budgets that apply to the asker, a row each."""
    rows = []
    for scope, usage in usage_by_scope.items():
        cap = caps.of(scope)
        left = "" if cap is None else format_usd(max(0, cap - usage.total))
        limit = "none" if cap is None else format_usd(cap)
        spent, reserved = _spent_text(usage), format_usd(usage.reserved)
        rows.append((_NAMES[scope], spent, reserved, limit, left))
    notes = ["Days and months are in UTC. Reserved amounts are for rounds in progress."]
    if unknown_calls := usage_by_scope[Scope.MONTH].unknown_calls:
        notes.append(
            f"Not included: {count_noun(unknown_calls, 'call')} of unknown cost this month."
        )
    if not caps.unknown_prices:
        notes.append("Models of unknown price are not asked.")
    table = number_table(("Budget", "Spent", "Reserved", "Cap", "Left"), rows)
    return Post((Heading("Budget"), table, Note(" ".join(notes))))


def _spent_text(usage: CapUsage) -> str:
    """Return what is spent: "$0.12", "at least $0.12", "unknown"."""
    if not _has_known_cost(usage):
        return "unknown"
    return f"{'at least ' if usage.unknown_calls else ''}{format_usd(usage.spent)}"


def _has_known_cost(usage: CapUsage) -> bool:
    return usage.spent > 0 or not usage.unknown_calls


def budget_left_line(caps: Caps, usage_by_scope: Mapping[Scope, CapUsage]) -> str:
    """Return how much somebody may still spend by their tightest cap, leaving out a channel's."""
    left = [
        (max(0, cap - usage.total), _NAMES[scope])
        for scope, usage in usage_by_scope.items()
        if scope is not Scope.CHANNEL_DAY and (cap := caps.of(scope)) is not None
    ]
    if not left:
        return "No budget limits your questions."
    amount, name = min(left)
    return f"**{format_usd(amount)}** left for {name[0].lower()}{name[1:].replace(',', '')}."


def budget_document(
    day: date, caps: Caps, usage_by_scope: Mapping[Scope, CapUsage]
) -> dict[str, Any]:
    """Return the budgets as a JSON document; amounts in USD, null without a cap.

    `spent_usd` is null if only calls of unknown cost were made.
    """
    return {
        "day": day.isoformat(),
        "unknown_prices": "allowed" if caps.unknown_prices else "forbidden",
        "budgets": [
            {
                "scope": scope.value,
                "spent_usd": usage.spent / MICRO_USD if _has_known_cost(usage) else None,
                "reserved_usd": usage.reserved / MICRO_USD,
                "cap_usd": None if cap is None else cap / MICRO_USD,
                "left_usd": None if cap is None else max(0, cap - usage.total) / MICRO_USD,
                "unknown_calls": usage.unknown_calls,
            }
            for scope, usage in usage_by_scope.items()
            for cap in (caps.of(scope),)
        ],
    }
