"""Budgets as a post and as JSON."""

from datetime import date

from bot.render.budgets import budget_document, budget_post
from council.budget_caps import Caps, CapUsage, Scope
from tests.bot.rounds import words_of

USED = {Scope.DAY: CapUsage(1_500_000, 250_000), Scope.MONTH: CapUsage(2_000_000, 250_000, 2)}


def test_a_budget_is_what_is_spent_reserved_and_left() -> None:
    words = words_of(budget_post(Caps(day=5_000_000), USED))

    assert "Everybody, today | $1.50 | $0.25 | $5.00 | $3.25" in words
    assert "Everybody, this month | at least $2.00 | $0.25 | none | " in words
    assert "Not included: 2 calls of unknown cost this month." in words


def test_an_overdrawn_budget_has_nothing_left() -> None:
    words = words_of(budget_post(Caps(day=1_000_000, unknown_prices=False), USED))

    assert "| $1.00 | $0.00" in words
    assert "Models of unknown price are not asked." in words


def test_a_document_has_null_where_there_is_no_cap() -> None:
    found = budget_document(date(2026, 11, 21), Caps(day=5_000_000), USED)

    day, month = found["budgets"]
    assert (found["day"], found["unknown_prices"]) == ("2026-11-21", "allowed")
    assert day == {
        "scope": "day",
        "spent_usd": 1.5,
        "reserved_usd": 0.25,
        "cap_usd": 5.0,
        "left_usd": 3.25,
        "unknown_calls": 0,
    }
    assert (month["cap_usd"], month["left_usd"], month["unknown_calls"]) == (None, None, 2)


def test_spending_of_unknown_cost_is_not_nothing() -> None:
    used = {Scope.DAY: CapUsage(unknown_calls=3), Scope.MONTH: CapUsage(unknown_calls=3)}

    words = words_of(budget_post(Caps(day=5_000_000), used))
    day, _ = budget_document(date(2026, 11, 21), Caps(), used)["budgets"]

    assert "Everybody, today | unknown | $0.00 | $5.00 | $5.00" in words
    assert (day["spent_usd"], day["unknown_calls"]) == (None, 3)
