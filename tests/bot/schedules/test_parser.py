"""Schedules as typed: parts in any order, and errors in a sentence."""

from datetime import date

import pytest

from bot.schedules.parser import NO_CAP, ScheduleRequest, parse_schedule
from council.errors import ScheduleError

TODAY = date(2026, 11, 21)


def test_parts_are_parsed_in_any_order() -> None:
    wanted = parse_schedule(
        "weekly-sql suite:sql panel:house every monday 09:00 Europe/Budapest #models cap:$2", TODAY
    )

    assert wanted == ScheduleRequest(
        name="weekly-sql",
        suite="sql",
        panel="house",
        cron="0 9 * * 1",
        when="every monday 09:00",
        zone="Europe/Budapest",
        channel="models",
        cap_micro=2_000_000,
    )


def test_the_order_of_the_rest_does_not_matter() -> None:
    one = parse_schedule(
        "w suite:sql panel:house every monday 09:00 Europe/Budapest #m cap:$2", TODAY
    )
    other = parse_schedule(
        "w #m europe/budapest cap:2 every monday panel:house 09:00 suite:sql", TODAY
    )

    assert other == one


@pytest.mark.parametrize(
    "text",
    [
        'w suite:sql "0 9 * * 1"',
        "w suite:sql '0 9 * * 1'",
        "w suite:sql “0 9 * * 1”",
        "w 0 9 * * 1 suite:sql",
        'w cron:"0 9 * * 1" suite:sql',
        'w suite:sql "every monday 09:00"',
    ],
)
def test_a_cron_may_stand_in_quotes_or_as_five_fields(text: str) -> None:
    assert parse_schedule(text, TODAY).cron == "0 9 * * 1"


@pytest.mark.parametrize(
    ("text", "channel"),
    [
        ("w #models", "models"),
        ("w <#1234567>", "1234567"),
        ("w <#C123|models>", "C123"),
        ("w every day 09:00", ""),
    ],
)
def test_a_channel_is_a_name_or_a_platform_link(text: str, channel: str) -> None:
    assert parse_schedule(text, TODAY).channel == channel


@pytest.mark.parametrize(
    ("word", "zone"),
    [("UTC", "UTC"), ("utc", "UTC"), ("america/new_york", "America/New_York"), ("EST", "EST")],
)
def test_a_zone_ignores_case(word: str, zone: str) -> None:
    assert parse_schedule(f"w every day 09:00 {word}", TODAY).zone == zone


def test_a_cap_can_be_taken_away() -> None:
    assert parse_schedule("w cap:none", TODAY).cap_micro == NO_CAP


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Begin with a name"),
        ("suite:sql every day 09:00", "Begin with a name"),
        ("-w every day 09:00", "Begin with a name"),
        ("w every day 09:00 Europe/Budapst", "did you mean Europe/Budapest?"),
        ("w every day 09:00 Mars/Olympus", "There is no time zone 'Mars/Olympus'"),
        ("w every day 09:00 tz:Budapest", "did you mean Europe/Budapest?"),
        ("w every day 09:00 Budapest", "Name the time zone in full: Europe/Budapest"),
        ("w every day 09:00 PST", "'PST' is no zone that keeps its clock right"),
        ("w every day 09:00 UTC Europe/Rome", "A schedule has one zone"),
        ("w suite:a suite:b every day 09:00", "A schedule has one suite"),
        ("w suite: sql every day 09:00", "Say which after 'suite:'"),
        ("w every day 09:00 cap:two", "'two' is no cap"),
        ("w every day 09:00 cap:0", "'0' is no cap"),
        ('w cron:"0 9 * * 1" every day', "either in words or as a cron"),
        ("w every day 09:00 speed:fast", "I do not know what 'speed:fast' means"),
    ],
)
def test_an_error_says_what_to_write(text: str, why: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        parse_schedule(text, TODAY)

    assert why in str(refused.value)
