"""Crons have their standard meaning, and each slot comes once, on nights of clock changes too."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.bakeoffs.cron import (
    Slots,
    find_due_slot,
    is_cron,
    monthly_runs,
    validate_cron,
    weekly_cron,
    weekly_times,
)
from bot.bakeoffs.render.schedules import describe_cron
from council.bakeoffs.models import slot_at
from council.errors import ScheduleError
from tests.council.bakeoffs.builders import a_schedule

SATURDAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def next_days(cron: str, count: int = 3) -> list[str]:
    slots = Slots(validate_cron(cron), "UTC").next_slots(SATURDAY, count)
    return [f"{slot:%a %d %b %H:%M}" for slot in slots]


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
        ("0 9 30 2 *", "never runs"),
        ("0 9 31 4,6,9,11 *", "never runs"),
        ("* * * * *", "more often than every 5 minutes"),
        ("*/4 * * * *", "more often than every 5 minutes"),
        ("0,3 9 * * *", "more often than every 5 minutes"),
        ("58,0 0,23 * * *", "more often than every 5 minutes"),
        ("0 9 * *", "has five fields"),
        ("0 0 9 * * 1", "has five fields"),
        ("61 9 * * *", "is not a cron"),
        ("0 25 * * *", "is not a cron"),
        ("0 9 * * 8", "is not a cron"),
        ("0 9 * * mon#6", "is not a valid field"),
        ("0 9 0 * *", "is not a cron"),
        ("R R * * *", "is not a valid field"),
        ("H H * * *", "is not a valid field"),
        ("0 9 15W * *", "is not a valid field"),
        ("0 9 * * -1", "is not a valid field"),
        ("0 9 * jam *", "is not a valid field"),
        ("*/0 9 * * *", "is not a cron"),
        ("@reboot", "There is no '@reboot'"),
    ],
)
def test_an_invalid_cron_is_refused(cron: str, why: str) -> None:
    with pytest.raises(ScheduleError, match="cron|never|often|no '@|not a valid field") as refused:
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
        ("1,2,3,50 1,5,9 * * *", 'with the cron expression "1,2,3,50 1,5,9 * * *"'),
        ("0 9 * 6-8 1", "every Monday in June, July and August at 09:00"),
        ("*/10 9-17 * * *", 'with the cron expression "*/10 9-17 * * *"'),
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
    assert is_cron(words) is is_one


NINE = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
DAILY = a_schedule(cron="0 9 * * *", words="every day 09:00", last_slot="2026-11-22T09:00")


@pytest.mark.parametrize(
    ("minutes", "slot", "is_late"),
    [
        (-1, None, False),
        (0, "2026-11-23T09:00", False),
        (60, "2026-11-23T09:00", False),
        (61, "2026-11-23T09:00", True),
        (24 * 60, "2026-11-24T09:00", False),
        (100 * 24 * 60, "2027-03-03T09:00", False),
    ],
)
def test_the_newest_slot_is_due_for_an_hour(
    minutes: int, slot: str | None, *, is_late: bool
) -> None:
    found = find_due_slot(DAILY, NINE + timedelta(minutes=minutes))

    assert (found and found.key) == slot
    assert bool(found and found.is_late) is is_late


def test_a_taken_or_paused_slot_is_not_due() -> None:
    assert find_due_slot(replace(DAILY, last_slot="2026-11-23T09:00"), NINE) is None
    assert find_due_slot(replace(DAILY, last_slot="2026-11-23T09:17"), NINE) is None
    assert find_due_slot(replace(DAILY, paused=True), NINE) is None


NEW_YORK, BUDAPEST, LORD_HOWE = "America/New_York", "Europe/Budapest", "Australia/Lord_Howe"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def keys(cron: str, zone: str, start: str, hours: float) -> list[str]:
    """Return the keys of all slots within some hours after a moment."""
    end = utc(start) + timedelta(hours=hours)
    slots = takewhile(lambda slot: slot <= end, Slots(cron, zone).iterate_after(utc(start)))
    return [slot_at(slot)[-5:] for slot in slots]


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
            "*/10 1-2 * * *",
            LORD_HOWE,
            "2026-04-04T14:39",
            1.5,
            "01:40 01:50 02:00 02:10 02:20 02:30",
            id="half-an-hour",
        ),
        # Samoa went from the 29th to the 31st of December 2011 at midnight.
        pytest.param(
            "0 */6 * * *",
            "Pacific/Apia",
            "2011-12-30T05:00",
            30,
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

    assert [slot.astimezone(UTC) for slot in slots] == [
        utc("2026-11-01T05:30"),
        utc("2026-11-02T06:30"),
    ]
    assert [slot_at(slot) for slot in slots] == ["2026-11-01T01:30", "2026-11-02T01:30"]


def test_a_daily_0230_fires_once_at_the_first_valid_moment_of_the_spring_night() -> None:
    # 2026-03-08 in New York: 02:00 to 03:00 is left out at 07:00Z.
    slots = Slots("30 2 * * *", NEW_YORK).next_slots(utc("2026-03-07T12:00"), 2)

    assert [slot.astimezone(UTC) for slot in slots] == [
        utc("2026-03-08T07:00"),
        utc("2026-03-09T06:30"),
    ]
    assert slot_at(slots[0]) == "2026-03-08T03:00"


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
    assert slot_at(Slots("30 1 * * *", NEW_YORK).newest(utc(moment))) == newest


def test_the_newest_slot_of_the_spring_night_is_the_moment_after_the_gap() -> None:
    slots = Slots("30 2 * * *", NEW_YORK)

    assert slot_at(slots.newest(utc("2026-03-08T06:59"))) == "2026-03-07T02:30"
    assert slot_at(slots.newest(utc("2026-03-08T07:00"))) == "2026-03-08T03:00"


ZONES = sorted(available_timezones() - {"Factory", "localtime"})
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
HOURS = 36
Clock = tuple[frozenset[int], frozenset[int]]  # minutes and hours


@st.composite
def nights(draw: st.DrawFn) -> tuple[ZoneInfo, datetime]:
    """Draw a zone and a moment before a clock change, or any moment if there is none that year."""
    zone, year = ZoneInfo(draw(st.sampled_from(ZONES))), draw(st.integers(2000, 2037))
    first = datetime(year, 1, 1, tzinfo=UTC)
    days = [first + number * DAY for number in range(365)]
    changes = [day for day in days if offset(day, zone) != offset(day + DAY, zone)]
    return zone, draw(st.sampled_from(changes or days)) - 3 * MINUTE * draw(st.integers(0, 200))


@st.composite
def clocks(draw: st.DrawFn) -> Clock:
    """Draw times of day for a cron."""
    step = draw(st.sampled_from((5, 10, 15, 30, 60)))
    minutes = draw(st.sampled_from((range(0, 60, step), [draw(st.integers(0, 59))])))
    hours = draw(st.sampled_from((range(24), range(0, 24, 2), [draw(st.integers(0, 4))])))
    return frozenset(minutes), frozenset(hours)


def offset(moment: datetime, zone: ZoneInfo) -> timedelta | None:
    return moment.astimezone(zone).utcoffset()


def cron_of(clock: Clock) -> str:
    minutes, hours = (",".join(map(str, sorted(values))) for values in clock)
    return f"{minutes} {hours} * * *"


def read_off(clock: Clock, zone: ZoneInfo, start: datetime) -> Iterator[datetime]:
    """Read the clock every minute; yield the moments at which it first shows or passes a time."""
    # What it showed in the day before, it shows for the second time.
    shown = max(wall(start - minute * MINUTE, zone) for minute in range(24 * 60))
    for number in range(1, HOURS * 60 + 1):
        moment = start + number * MINUTE
        now = wall(moment, zone)
        if any(due(clock, shown + step * MINUTE) for step in range(1, passed(shown, now) + 1)):
            yield moment
        shown = max(shown, now)


def wall(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def passed(shown: datetime, now: datetime) -> int:
    return max(0, (now - shown) // MINUTE)


def due(clock: Clock, time: datetime) -> bool:
    minutes, hours = clock
    return time.minute in minutes and time.hour in hours


@settings(max_examples=40)
@given(night=nights(), clock=clocks())
def test_slots_match_a_clock_read_every_minute(
    night: tuple[ZoneInfo, datetime], clock: Clock
) -> None:
    zone, start = night
    end = start + HOURS * 60 * MINUTE

    slots = Slots(cron_of(clock), zone.key).iterate_after(start)
    found = [slot.astimezone(UTC) for slot in takewhile(lambda slot: slot <= end, slots)]

    assert found == [*read_off(clock, zone, start)]
    assert len({slot_at(moment.astimezone(zone)) for moment in found}) == len(found)


@pytest.mark.nightly
@settings(max_examples=1_000)
@given(night=nights(), clock=clocks())
def test_slots_match_a_clock_on_many_nights(night: tuple[ZoneInfo, datetime], clock: Clock) -> None:
    test_slots_match_a_clock_read_every_minute.hypothesis.inner_test(  # type: ignore[attr-defined]
        night, clock
    )


@given(night=nights(), clock=clocks(), later=st.integers(0, HOURS * 60))
def test_every_moment_lies_between_its_newest_slot_and_the_next(
    night: tuple[ZoneInfo, datetime], clock: Clock, later: int
) -> None:
    zone, start = night
    moment, slots = start + later * MINUTE, Slots(cron_of(clock), zone.key)

    newest, after = slots.newest(moment), slots.after(moment)

    assert newest <= moment < after
    assert slots.after(newest) == after
    assert slot_at(newest) < slot_at(after)


@pytest.mark.parametrize(
    ("days", "time"), [((1,), "09:00"), ((0, 6), "18:05"), (range(7), "00:00")]
)
def test_days_and_time_are_read_back_from_their_cron(days: Sequence[int], time: str) -> None:
    assert weekly_times(weekly_cron(days, time)) == (tuple(days), time)


@pytest.mark.parametrize(
    "cron", ["0 9 1 * *", "0 9 * 5 *", "0 9 * * 1#1", "0,30 9 * * 1", "0 9,18 * * 1", "0 * * * 1"]
)
def test_other_crons_are_no_days_and_time(cron: str) -> None:
    assert weekly_times(cron) is None


def test_every_day_is_seven_days() -> None:
    assert weekly_times("30 7 * * *") == (tuple(range(7)), "07:30")
