"""Leaderboard queries: suites, versions, time windows, and the records they select."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from bot.bakeoffs.leaderboard import (
    LeaderboardQuery,
    LeaderboardQueryError,
    parse_query,
    parse_since,
    parse_until,
    select_records,
)
from council.bakeoffs.records import PackedRecord

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
    with pytest.raises(LeaderboardQueryError, match="Write 30d"):
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


FIRST = datetime(2026, 11, 1, tzinfo=UTC)


def make_records(*versions: str, suite: str = "sql") -> Sequence[PackedRecord]:
    return [
        PackedRecord(
            round_id=f"r{at}",
            asked_at=FIRST + timedelta(days=at),
            panel="house",
            scope="",
            bakeoff="b",
            number=at,
            suite=suite,
            suite_version=version,
            category="",
            shape="[]",
            numbers=b"",
            version=1,
        )
        for at, version in enumerate(versions)
    ]


def test_the_version_that_ran_last_counts() -> None:
    kept, coverage = select_records(
        make_records("old", "new", "old", "new"), LeaderboardQuery("sql")
    )

    assert [record.round_id for record in kept] == ["r1", "r3"]
    assert (coverage.version, coverage.left_out, coverage.rounds) == ("new", (("old", 2),), 2)
    assert (coverage.first, coverage.last) == (FIRST + timedelta(days=1), FIRST + timedelta(days=3))


def test_a_version_is_named_by_its_beginning() -> None:
    kept, coverage = select_records(make_records("aa11", "bb22"), LeaderboardQuery("sql", "aa"))

    assert [record.suite_version for record in kept] == ["aa11"]
    assert coverage.version == "aa11"
    none, missing = select_records(make_records("aa11"), LeaderboardQuery("sql", "ff"))
    assert not none
    assert (missing.version, missing.left_out) == ("ff", (("aa11", 1),))
    assert select_records([], LeaderboardQuery("sql"))[1].rounds == 0


def test_without_a_suite_every_round_counts_and_each_version_is_named() -> None:
    records = [*make_records("aa", "bb"), *make_records("", suite="")]

    kept, coverage = select_records(records, LeaderboardQuery())

    assert len(kept) == 3
    assert coverage.suites == (("", "", 1), ("sql", "aa", 1), ("sql", "bb", 1))
