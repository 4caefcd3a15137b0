"""Crons have their standard meaning; those that never run, or too often, are refused."""

from datetime import UTC, datetime

import pytest

from bot.render.schedules import describe_cron
from bot.schedules.cron import Slots, is_cron, monthly_runs, validate_cron
from council.errors import ScheduleError

SATURDAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def next_days(cron: str, count: int = 3) -> list[str]:
    slots = Slots(validate_cron(cron), "UTC").next_slots(SATURDAY, count)
    return [f"{slot.moment:%a %d %b %H:%M}" for slot in slots]


@pytest.mark.parametrize("sunday", ["0", "7", "sun", "SUN"])
def test_sunday_is_0_and_7(sunday: str) -> None:
    assert next_days(f"0 9 * * {sunday}", 1) == ["Sun 22 Nov 09:00"]


def test_monday_is_1() -> None:
    assert next_days("0 9 * * 1", 2) == ["Mon 23 Nov 09:00", "Mon 30 Nov 09:00"]


def test_either_of_two_day_fields_matches() -> None:
    assert next_days("0 9 24 * 1") == ["Mon 23 Nov 09:00", "Tue 24 Nov 09:00", "Mon 30 Nov 09:00"]


@pytest.mark.parametrize(
    ("alias", "cron"),
    [("@daily", "0 0 * * *"), ("@Hourly", "0 * * * *"), ("@weekly", "0 0 * * 0")],
)
def test_aliases_are_known(alias: str, cron: str) -> None:
    assert validate_cron(alias) == cron


def test_a_range_of_one_value_is_that_value() -> None:
    assert validate_cron("0 9-9 * * 1-1") == "0 9 * * 1"


@pytest.mark.parametrize(
    ("cron", "why"),
    [
        ("0 9 30 2 *", "never comes"),
        ("0 9 31 4,6,9,11 *", "never comes"),
        ("* * * * *", "more often than every 5 minutes"),
        ("*/4 * * * *", "more often than every 5 minutes"),
        ("0,3 9 * * *", "more often than every 5 minutes"),
        ("58,0 0,23 * * *", "more often than every 5 minutes"),
        ("0 9 * *", "has five fields"),
        ("0 0 9 * * 1", "has five fields"),
        ("61 9 * * *", "is no cron"),
        ("0 25 * * *", "is no cron"),
        ("0 9 * * 8", "is no cron"),
        ("0 9 * * mon#6", "is no field"),
        ("0 9 0 * *", "is no cron"),
        ("R R * * *", "is no field"),
        ("H H * * *", "is no field"),
        ("0 9 15W * *", "is no field"),
        ("0 9 * * -1", "is no field"),
        ("0 9 * jam *", "is no field"),
        ("*/0 9 * * *", "is no cron"),
        ("@reboot", "There is no '@reboot'"),
    ],
)
def test_an_invalid_cron_is_refused(cron: str, why: str) -> None:
    with pytest.raises(ScheduleError, match="cron|never|often|no '@") as refused:
        validate_cron(cron)

    assert why in str(refused.value)


def test_the_29th_of_february_is_valid() -> None:
    assert next_days("0 9 29 2 *", 1) == ["Tue 29 Feb 09:00"]


@pytest.mark.parametrize(
    ("cron", "often"),
    [
        ("0 9 * * *", 365 / 12),
        ("0 9 * * 1", 52 / 12),
        ("*/30 * * * *", 48 * 365 / 12),
        ("0 9 1 * *", 1.0),
        ("0 9 29 2 *", 0.0),
    ],
)
def test_runs_a_month_are_averaged_over_a_year(cron: str, often: float) -> None:
    assert monthly_runs(cron) == pytest.approx(often)


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("7 3,9,15,21 * * *", "every day at 03:07, 09:07, 15:07 and 21:07"),
        ("0 9 13 * 5", "on the 13th or every Friday at 09:00"),
        ("1,2,3,50 1,5,9 * * *", 'by the cron "1,2,3,50 1,5,9 * * *"'),
        ("0 9 * 6-8 1", "every Monday in June, July and August at 09:00"),
        ("*/10 9-17 * * *", 'by the cron "*/10 9-17 * * *"'),
        ("0 9 * * 0-6", "every day at 09:00"),
    ],
)
def test_a_cron_is_described_in_words(cron: str, words: str) -> None:
    assert describe_cron(cron) == words


@pytest.mark.parametrize(
    ("words", "is_one"),
    [
        ("0 9 * * 1", True),
        ("*/5 * * * *", True),
        ("@daily", True),
        ("every monday 09:00", False),
        ("9:00 every single day please", False),
    ],
)
def test_a_cron_is_distinguished_from_words(words: str, *, is_one: bool) -> None:
    assert is_cron(words.split()) is is_one
