"""Property test: slots in every zone and year match a clock that is read every minute."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.schedules.cron import Slots
from council.bakeoffs.models import slot_at

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
    found = [
        slot.moment.astimezone(UTC) for slot in takewhile(lambda slot: slot.moment <= end, slots)
    ]

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

    assert newest.moment <= moment < after.moment
    assert slots.after(newest.moment) == after
    assert newest.key < after.key
