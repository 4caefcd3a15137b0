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


def test_an_hourly_schedule_runs_24_of_the_25_hours_of_the_autumn_night() -> None:
    slots = keys("0 * * * *", BUDAPEST, "2026-10-24T21:59", 25)  # a whole day

    assert slots == [f"{hour:02}:00" for hour in range(24)]


def test_an_hourly_schedule_runs_in_all_23_hours_of_the_spring_night() -> None:
    slots = keys("0 * * * *", BUDAPEST, "2026-03-28T22:59", 23)

    assert slots == [f"{hour:02}:00" for hour in range(24) if hour != 2]


def test_slots_in_the_spring_gap_run_once_right_after_it() -> None:
    slots = keys("*/15 * * * *", BUDAPEST, "2026-03-29T00:30", 1)

    assert slots == ["01:45", "03:00", "03:15", "03:30"]


def test_a_half_hour_clock_change_is_handled() -> None:
    # Lord Howe, 2026-04-05: at 02:00 the clock goes back to 01:30.
    assert keys("*/10 1-2 * * *", LORD_HOWE, "2026-04-04T14:39", 1.5) == [
        "01:40",
        "01:50",
        "02:00",
        "02:10",
        "02:20",
        "02:30",
    ]


def test_a_daily_slot_keeps_its_wall_clock_time_all_year() -> None:
    slots = Slots("0 9 * * *", NEW_YORK).next_slots(utc("2026-01-01T00:00"), 365)

    assert {slot.key[-5:] for slot in slots} == {"09:00"}
    assert {slot.moment.astimezone(UTC).hour for slot in slots} == {13, 14}


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


def test_a_skipped_calendar_day_is_one_moment() -> None:
    # Samoa went from the 29th to the 31st of December 2011 at midnight.
    slots = keys("0 */6 * * *", "Pacific/Apia", "2011-12-30T05:00", 30)

    assert slots == ["00:00", "06:00", "12:00", "18:00", "00:00"]
