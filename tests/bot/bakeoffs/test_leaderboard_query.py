"""Leaderboard queries: suites, versions, time windows."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.bakeoffs.leaderboard import (
    LeaderboardQuery,
    LeaderboardQueryError,
    parse_query,
    parse_since,
    parse_until,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("30d", NOW - timedelta(days=30)),
        ("2 weeks", NOW - timedelta(weeks=2)),
        ("12h", NOW - timedelta(hours=12)),
        ("3 Months", NOW - timedelta(days=90)),
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T09:00+01:00", datetime(2026, 11, 1, 8, tzinfo=UTC)),
    ],
)
def test_a_window_begins_at_the_given_time(text: str, moment: datetime) -> None:
    assert parse_since(text, NOW) == moment


def test_a_day_is_within_a_window_that_ends_with_it() -> None:
    assert parse_until("2026-11-01", NOW) == datetime(2026, 11, 2, tzinfo=UTC)
    assert parse_until("7d", NOW) == NOW - timedelta(days=7)


@pytest.mark.parametrize("text", ["soon", "d30", "99999y", "2026-13-01", "-3d"])
def test_a_window_that_is_none_is_refused_with_examples(text: str) -> None:
    with pytest.raises(LeaderboardQueryError, match="say 30d"):
        parse_until(text, NOW)


def test_options_are_read_wherever_they_were_chosen() -> None:
    given = {"suite": "sql@3F2A", "panel": "house", "category": "joins", "as": "judge"}

    assert parse_query(given, NOW) == LeaderboardQuery(
        "sql", "3f2a", "house", "joins", as_judge=True
    )
    assert parse_query(
        {"suite": "sql", "version": "aa", "since": "", "as": ""}, NOW
    ) == LeaderboardQuery("sql", "aa")


def test_a_view_that_is_none_is_refused() -> None:
    with pytest.raises(LeaderboardQueryError, match="as:author or as:judge"):
        parse_query({"as": "reader"}, NOW)
