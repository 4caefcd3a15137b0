"""Selection of records: a leaderboard counts one version of a suite at a time."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from bot.bakeoffs.leaderboard import LeaderboardQuery, select_records
from council.bakeoffs.records import PackedRecord

FIRST = datetime(2026, 11, 1, tzinfo=UTC)


def make_records(*versions: str, suite: str = "sql") -> Sequence[PackedRecord]:
    return [
        PackedRecord(
            *(f"r{at}", FIRST + timedelta(days=at), "house", "", "b", at, suite, version, ""),
            *("[]", b"", 1),
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
