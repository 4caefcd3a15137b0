"""Slots on the nights of clock changes."""

from datetime import UTC, datetime, timedelta
from itertools import takewhile

import pytest

from bot.schedules.cron import Slots

NEW_YORK, BUDAPEST, LORD_HOWE = "America/New_York", "Europe/Budapest", "Australia/Lord_Howe"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def keys(cron: str, zone: str, start: str, hours: float) -> list[str]:
    """Return the keys of all slots within some hours after a moment."""
    end = utc(start) + timedelta(hours=hours)
    slots = takewhile(lambda slot: slot.moment <= end, Slots(cron, zone).iterate_after(utc(start)))
    return [slot.key[-5:] for slot in slots]


@pytest.mark.parametrize(
    ("cron", "zone", "start", "hours", "slots"),
    [
        pytest.param(
            "0 */8 * * *", BUDAPEST, "2026-10-24T21:59", 25, "00:00 08:00 16:00", id="autumn"
        ),
        pytest.param(
            "0 * * * *", BUDAPEST, "2026-03-29T00:00", 2, "03:00 04:00", id="hour-left-out"
        ),
        pytest.param(
            "*/15 * * * *", BUDAPEST, "2026-03-29T00:30", 1, "01:45 03:00 03:15 03:30", id="gap"
        ),
        # On 2026-04-05 at 02:00 the clock goes back to 01:30.
        pytest.param(
            *("*/10 1-2 * * *", LORD_HOWE, "2026-04-04T14:39", 1.5),
            "01:40 01:50 02:00 02:10 02:20 02:30",
            id="half-an-hour",
        ),
        # Samoa went from the 29th to the 31st of December 2011 at midnight.
        pytest.param(
            *("0 */6 * * *", "Pacific/Apia", "2011-12-30T05:00", 30),
            "00:00 06:00 12:00 18:00 00:00",
            id="skipped-day",
        ),
    ],
)
def test_each_time_comes_once_when_the_clock_is_turned(
    cron: str, zone: str, start: str, hours: float, slots: str
) -> None:
    assert keys(cron, zone, start, hours) == slots.split()


def test_a_daily_0130_fires_once_on_the_night_the_clocks_go_back() -> None:
    # 2026-11-01 in New York: 01:30 comes at 05:30Z and again at 06:30Z.
    slots = Slots("30 1 * * *", NEW_YORK).next_slots(utc("2026-10-31T12:00"), 2)

    assert [slot.moment.astimezone(UTC) for slot in slots] == [
        utc("2026-11-01T05:30"),
        utc("2026-11-02T06:30"),
    ]
    assert [slot.key for slot in slots] == ["2026-11-01T01:30", "2026-11-02T01:30"]


def test_a_daily_0230_fires_once_at_the_first_valid_moment_of_the_spring_night() -> None:
    # 2026-03-08 in New York: 02:00 to 03:00 is left out at 07:00Z.
    slots = Slots("30 2 * * *", NEW_YORK).next_slots(utc("2026-03-07T12:00"), 2)

    assert [slot.moment.astimezone(UTC) for slot in slots] == [
        utc("2026-03-08T07:00"),
        utc("2026-03-09T06:30"),
    ]
    assert slots[0].key == "2026-03-08T03:00"


@pytest.mark.parametrize(
    ("moment", "newest"),
    [
        ("2026-11-01T05:30", "2026-11-01T01:30"),  # the first 01:30
        ("2026-11-01T06:10", "2026-11-01T01:30"),  # 01:10 for the second time
        ("2026-11-01T06:30", "2026-11-01T01:30"),  # the second 01:30
        ("2026-11-01T05:29", "2026-10-31T01:30"),
    ],
)
def test_the_newest_slot_is_found_while_the_hour_repeats(moment: str, newest: str) -> None:
    assert Slots("30 1 * * *", NEW_YORK).newest(utc(moment)).key == newest


def test_the_newest_slot_of_the_spring_night_is_the_moment_after_the_gap() -> None:
    slots = Slots("30 2 * * *", NEW_YORK)

    assert slots.newest(utc("2026-03-08T06:59")).key == "2026-03-07T02:30"
    assert slots.newest(utc("2026-03-08T07:00")).key == "2026-03-08T03:00"
