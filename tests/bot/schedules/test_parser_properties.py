"""Property test: any typed text is a valid schedule or is refused in a sentence."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.render.schedules import describe_cron
from bot.schedules.cron import Slots, monthly_runs, validate_cron
from bot.schedules.parser import parse_schedule
from council.errors import ScheduleError

Understood = TypeVar("Understood")

TODAY = date(2026, 11, 21)
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SAYINGS = """
every each day daily weekly monthly hourly monday tues fri-sun weekdays weekend first second last of
the month week hour hours minutes 2 3 7 15 60 1st 31st 99th 09:00 9am 13pm 24:00 noon at on and to
, :15 :75 twice times half an quarter january february march 2025-01-01 2027-02-30 Europe/Budapest
Mars/X budapest pst utc suite:sql suite: cap:$2 cap:x #models # <#1> "0 9 * * 1" "" " @daily @never
* */5 0 5 L5 1#1 0 9 * * 1 ² ٣ 🏛
"""
WORDS = SAYINGS.split()
FIELD = st.sampled_from(
    ("*", "*/5", "*/7", "0", "59", "60", "5-1", "1-5", "9-9", "1,2,30", "L", "L5", "1#2", "mon")
)


@settings(max_examples=200)
@given(words=st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=9))
def test_any_words_parse_or_are_refused(words: list[str]) -> None:
    result = outcome(lambda: parse_schedule(" ".join(("name", *words)), TODAY))

    if isinstance(result, str):
        assert result.endswith((".", "?"))
    elif result.cron:
        assert_comes(result.cron, result.zone or "UTC")


@settings(max_examples=200)
@given(fields=st.lists(FIELD, min_size=4, max_size=6))
def test_any_fields_are_valid_or_refused(fields: list[str]) -> None:
    result = outcome(lambda: (validate_cron(" ".join(fields)),))

    if isinstance(result, str):
        assert result.endswith(".")
    else:
        assert_comes(result[0], "Europe/Budapest")


def outcome(understand: Callable[[], Understood]) -> Understood | str:
    """Return the result, or the sentence with which it was refused."""
    try:
        return understand()
    except ScheduleError as error:
        return str(error)


def assert_comes(cron: str, zone: str) -> None:
    """Check that the cron runs, has a description, and does not run too often."""
    slots = Slots(cron, zone).next_slots(NOW, 3)
    assert slots[0].moment > NOW
    assert slots[0].moment < slots[1].moment < slots[2].moment
    assert describe_cron(cron)
    assert monthly_runs(cron) <= 288 * 31
