"""Schedules as typed: plain words and parts in any order, or what to write instead."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.bakeoffs.cron import Slots, monthly_runs, validate_cron
from bot.bakeoffs.render.schedules import describe_cron
from bot.bakeoffs.schedule_parser import (
    NO_CAP,
    ScheduleRequest,
    find_zone,
    read_schedule_fields,
    suggest_zone,
    words_to_cron,
)
from council.errors import ScheduleError


def parse_schedule(typed: str) -> ScheduleRequest:
    """Return the request of a name and the words after it."""
    name, _, words = typed.partition(" ")
    return read_schedule_fields({"name": name, "when": words})


def test_parts_are_parsed_in_any_order() -> None:
    wanted = parse_schedule(
        "weekly-sql suite:sql panel:house every monday 09:00 Europe/Budapest #models cap:$2"
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
    one = parse_schedule("w suite:sql panel:house every monday 09:00 Europe/Budapest #m cap:$2")
    other = parse_schedule("w #m europe/budapest cap:2 every monday panel:house 09:00 suite:sql")

    assert other == one


@pytest.mark.parametrize(
    "text",
    [
        'w suite:sql "0 9 * * 1"',
        "w suite:sql '0 9 * * 1'",
        "w suite:sql “0 9 * * 1”",
        "w 0 9 * * 1 suite:sql",
        'w suite:sql "every monday 09:00"',
    ],
)
def test_a_cron_may_stand_in_quotes_or_as_five_fields(text: str) -> None:
    assert parse_schedule(text).cron == "0 9 * * 1"


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
    assert parse_schedule(text).channel == channel


@pytest.mark.parametrize(
    ("word", "zone"),
    [("UTC", "UTC"), ("utc", "UTC"), ("america/new_york", "America/New_York"), ("EST", "EST")],
)
def test_a_zone_ignores_case(word: str, zone: str) -> None:
    assert parse_schedule(f"w every day 09:00 {word}").zone == zone


def test_a_cap_can_be_taken_away() -> None:
    assert parse_schedule("w cap:none").cap_micro == NO_CAP


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Name the schedule"),
        ("suite:sql every day 09:00", "Name the schedule"),
        ("-w every day 09:00", "Name the schedule"),
        ("w every day 09:00 Europe/Budapst", "Write it as in Europe/Budapest"),
        ("w every day 09:00 Mars/Olympus", "There is no time zone 'Mars/Olympus'"),
        ("w every day 09:00 zone:Budapest", "Write it as in Europe/Budapest"),
        ("w every day 09:00 Budapest", "a time zone such as Europe/Budapest"),
        ("w every day 09:00 PST", "I don't understand 'pst'"),
        ("w every day 09:00 UTC Europe/Rome", "A schedule has one zone"),
        ("w suite:a suite:b every day 09:00", "A schedule has one suite"),
        ("w suite: sql every day 09:00", "Write the value right after 'suite:'"),
        ("w every day 09:00 cap:two", "'two' is not a cap"),
        ("w every day 09:00 cap:0", "'0' is not a cap"),
        ("w every day 09:00 speed:fast", "I don't understand 'speed:fast'"),
    ],
)
def test_an_error_says_what_to_write(text: str, why: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        parse_schedule(text)

    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("text", "meant", "description"),
    [
        ("every day 09:00", "0 9 * * *", "every day at 09:00"),
        ("daily at 9:30", "30 9 * * *", "every day at 09:30"),
        ("daily 9am", "0 9 * * *", "every day at 09:00"),
        ("every day at 12 am", "0 0 * * *", "every day at 00:00"),
        ("every weekday 9:30", "30 9 * * 1,2,3,4,5", "every weekday at 09:30"),
        ("weekends 10:00", "0 10 * * 0,6", "every Saturday and Sunday at 10:00"),
        ("every monday 09:00", "0 9 * * 1", "every Monday at 09:00"),
        ("Mondays at 9pm", "0 21 * * 1", "every Monday at 21:00"),
        ("every day 18:00, 9:00", "0 9,18 * * *", "every day at 09:00 and 18:00"),
        ("every monday and thursday 18:00", "0 18 * * 1,4", "every Monday and Thursday at 18:00"),
        ("mon, wed and fri 7:15", "15 7 * * 1,3,5", "every Monday, Wednesday and Friday at 07:15"),
        ("sunday 08:00", "0 8 * * 0", "every Sunday at 08:00"),
        ("monday to friday 09:00", "0 9 * * 1,2,3,4,5", "every weekday at 09:00"),
        ("fri-sun 09:00", "0 9 * * 0,5,6", "every Friday, Saturday and Sunday at 09:00"),
        ("every hour", "0 * * * *", "every hour"),
        ("hourly", "0 * * * *", "every hour"),
        ("every 2 hours", "0 */2 * * *", "every 2 hours"),
        (
            "every 6 hours on weekdays",
            "0 */6 * * 1,2,3,4,5",
            "every weekday at 00:00, 06:00, 12:00",
        ),
        ("every 15 minutes", "*/15 * * * *", "every 15 minutes"),
        ("every 60 minutes", "0 * * * *", "every hour"),
        ("weekly at 09:00", "0 9 * * 1", "every Monday at 09:00"),
        ("every week on friday 09:00", "0 9 * * 5", "every Friday at 09:00"),
        ("monthly 08:00", "0 8 1 * *", "on the 1st of every month at 08:00"),
        ("on the 1st 08:00", "0 8 1 * *", "on the 1st of every month at 08:00"),
        ("on the 1st and 15th at 08:00", "0 8 1,15 * *", "on the 1st and 15th of every month"),
        ("last day of the month 23:00", "0 23 L * *", "on the last day of every month at 23:00"),
        ("first monday of the month 09:00", "0 9 * * 1#1", "on the first Monday of the month"),
        (
            "last friday of every month 17:00",
            "0 17 * * L5",
            "on the last Friday of the month at 17:00",
        ),
    ],
)
def test_words_become_a_cron_and_its_description(text: str, meant: str, description: str) -> None:
    assert words_to_cron(text) == meant
    assert describe_cron(validate_cron(meant)).startswith(description)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("every monday", "Add a time"),
        ("on the 1st", "Add a time"),
        ("every 7 hours", "7 hours do not divide a day evenly"),
        ("every 0 hours", "0 hours do not divide"),
        ("every 25 minutes", "25 minutes do not divide an hour evenly"),
        ("every 3 months 08:00", "I don't understand '3'"),
        ("hourly at :15", "I don't understand ':15'"),
        ("every 2 weeks monday 09:00", "I don't understand '2'"),
        ("every other day 09:00", "I don't understand 'other'"),
        ("every second monday 09:00", "first monday of the month"),
        ("every 1 minutes", "more often than every 5 minutes"),
        ("every 1 years 09:00", "I don't understand '1'"),
        ("on 2025-01-01 09:00", "has no date, in the past or to come: 2025-01-01"),
        ("at 9 every day", "I don't understand '9'"),
        ("every 2 hours 09:00", "either how often or at which times"),
        ("monday 25:00", "'25:00' is not a time of day"),
        ("monday 9:60", "'9:60' is not a time of day"),
        ("monday 13pm", "'13pm' is not a time of day"),
        ("09:00 and 18:30", "must have the same minutes"),
        ("monday and the 1st 09:00", "not both"),
        ("on the 32nd 09:00", "No month has a day 32"),
        ("every blue moon 09:00", "I don't understand 'blue'"),
        ("monday 5 09:00", "I don't understand '5'"),
        ("²", "I don't understand '²'"),
    ],
)
def test_an_impossible_schedule_is_refused_with_an_example(text: str, why: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        validate_cron(words_to_cron(text))

    assert why in str(refused.value)
    assert str(refused.value).endswith((".", "?"))


def test_every_zone_is_found_in_any_case() -> None:
    for name in sorted(available_timezones() - {"Factory", "localtime"}):
        assert ZoneInfo(find_zone(name.upper()) or "").key == name


@pytest.mark.parametrize(
    ("word", "zone"),
    [
        ("Europe/Budapst", "Europe/Budapest"),
        ("europe/london ", "Europe/London"),
        ("Budapest", "Europe/Budapest"),
        ("Pest/Budapest", "Europe/Budapest"),
        ("America/NewYork", "America/New_York"),
        ("Tokio", "Asia/Tokyo"),
        ("PST", None),
        ("Mars/Olympus", None),
        ("every", None),
    ],
)
def test_the_nearest_zone_is_suggested(word: str, zone: str | None) -> None:
    assert suggest_zone(word) == zone


Understood = TypeVar("Understood")


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
    result = outcome(lambda: parse_schedule(" ".join(("name", *words))))

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
    assert slots[0] > NOW
    assert slots[0] < slots[1] < slots[2]
    assert describe_cron(cron)
    assert monthly_runs(cron) <= 288 * 31


def test_fields_stay_as_they_are_and_only_the_words_are_parsed() -> None:
    wanted = read_schedule_fields(
        {
            "name": "weekly",
            "suite": "sql basics",
            "panel": "my “best” panel",
            "cap": "$2",
            "channel": "C1",
            "when": "every monday 09:00 europe/budapest",
        }
    )

    assert (wanted.suite, wanted.panel) == ("sql basics", "my “best” panel")
    assert (wanted.cron, wanted.when) == ("0 9 * * 1", "every monday 09:00")
    assert (wanted.zone, wanted.channel, wanted.cap_micro) == ("Europe/Budapest", "C1", 2_000_000)


def test_a_word_that_contradicts_a_field_is_refused() -> None:
    with pytest.raises(ScheduleError, match="has one suite"):
        read_schedule_fields({"name": "weekly", "suite": "sql", "when": "hourly suite:maths"})
