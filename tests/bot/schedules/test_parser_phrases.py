"""Plain words become one cron, or are refused with what to write instead."""

from datetime import date

import pytest

from bot.render.schedules import describe_cron
from bot.schedules.cron import validate_cron
from bot.schedules.parser import words_to_cron
from council.errors import ScheduleError

TODAY = date(2026, 11, 21)


def cron(text: str) -> str:
    return words_to_cron(text.split(), TODAY)


@pytest.mark.parametrize(
    ("text", "meant", "said"),
    [
        ("every day 09:00", "0 9 * * *", "every day at 09:00"),
        ("daily at 9:30", "30 9 * * *", "every day at 09:30"),
        ("daily 9am", "0 9 * * *", "every day at 09:00"),
        ("every day at 12 am", "0 0 * * *", "every day at 00:00"),
        ("every day at noon", "0 12 * * *", "every day at 12:00"),
        ("at 9 every day", "0 9 * * *", "every day at 09:00"),
        ("every weekday 9:30", "30 9 * * 1,2,3,4,5", "every weekday at 09:30"),
        ("weekends 10:00", "0 10 * * 0,6", "every Saturday and Sunday at 10:00"),
        ("every monday 09:00", "0 9 * * 1", "every Monday at 09:00"),
        ("Mondays at 9pm", "0 21 * * 1", "every Monday at 21:00"),
        ("every monday and thursday 18:00", "0 18 * * 1,4", "every Monday and Thursday at 18:00"),
        ("mon, wed and fri 7:15", "15 7 * * 1,3,5", "every Monday, Wednesday and Friday at 07:15"),
        ("sunday 08:00", "0 8 * * 0", "every Sunday at 08:00"),
        ("monday to friday 09:00", "0 9 * * 1,2,3,4,5", "every weekday at 09:00"),
        ("fri-sun 09:00", "0 9 * * 0,5,6", "every Friday, Saturday and Sunday at 09:00"),
        ("every hour", "0 * * * *", "every hour"),
        ("hourly", "0 * * * *", "every hour"),
        ("hourly at :15", "15 * * * *", "every hour at 15 minutes past"),
        ("every 2 hours", "0 */2 * * *", "every 2 hours"),
        (
            "every 6 hours on weekdays",
            "0 */6 * * 1,2,3,4,5",
            "every weekday at 00:00, 06:00, 12:00",
        ),
        ("every 15 minutes", "*/15 * * * *", "every 15 minutes"),
        ("every half hour", "*/30 * * * *", "every 30 minutes"),
        ("every 60 minutes", "0 * * * *", "every hour"),
        ("weekly at 09:00", "0 9 * * 1", "every Monday at 09:00"),
        ("every week on friday 09:00", "0 9 * * 5", "every Friday at 09:00"),
        ("monthly 08:00", "0 8 1 * *", "on the 1st of every month at 08:00"),
        ("on the 1st 08:00", "0 8 1 * *", "on the 1st of every month at 08:00"),
        ("on the 1st and 15th at 08:00", "0 8 1,15 * *", "on the 1st and 15th of every month"),
        ("last day of the month 23:00", "0 23 L * *", "on the last day of every month at 23:00"),
        ("every 3 months on the 2nd 08:00", "0 8 2 */3 *", "on the 2nd in January, April, July"),
        ("on the 1st of march 08:00", "0 8 1 3 *", "on the 1st in March at 08:00"),
        ("first monday of the month 09:00", "0 9 * * 1#1", "on the first Monday of the month"),
        (
            "first and third monday of the month 9:00",
            "0 9 * * 1#1,1#3",
            "on the first Monday and third",
        ),
        (
            "last friday of every month 17:00",
            "0 17 * * L5",
            "on the last Friday of the month at 17:00",
        ),
        ("twice a day 09:00 and 18:00", "0 9,18 * * *", "every day at 09:00 and 18:00"),
        (
            "3 times a day 08:00 12:00 18:00",
            "0 8,12,18 * * *",
            "every day at 08:00, 12:00 and 18:00",
        ),
    ],
)
def test_words_become_a_cron_and_its_description(text: str, meant: str, said: str) -> None:
    assert cron(text) == meant
    assert describe_cron(validate_cron(meant)).startswith(said)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("every monday", "At what time?"),
        ("on the 1st", "At what time?"),
        ("twice a day", "At what time?"),
        ("twice a day 09:00", "At which 2 times?"),
        ("every 7 hours", "7 hours do not divide a day evenly"),
        ("every 0 hours", "0 hours do not divide"),
        ("every 25 minutes", "25 minutes do not divide an hour evenly"),
        ("every 5 months 09:00", "5 months do not divide a year"),
        ("every 2 weeks monday 09:00", "Every 2 weeks is more than a calendar can tell"),
        ("every other day 09:00", "Every 2 days is more than"),
        ("every second monday 09:00", "First, second or last of what?"),
        ("every minute", "more often than every 5 minutes"),
        ("twice an hour", "either how often or at which times"),
        ("every 1 years 09:00", "more than a calendar can tell"),
        ("every 2 hours 09:00", "either how often or at which times"),
        ("monday 25:00", "'25:00' is no time of day"),
        ("monday 9:60", "'9:60' is no time of day"),
        ("monday 13pm", "'13pm' is no time of day"),
        ("09:00 and 18:30", "share their minute"),
        ("monday and the 1st 09:00", "not both"),
        ("on the 32nd 09:00", "No month has a day 32"),
        ("on 2025-01-01 09:00", "2025-01-01 is past, and a schedule recurs"),
        ("on 2027-01-01 09:00", "2027-01-01 comes once"),
        ("on 2027-13-01", "There is no day '2027-13-01'"),
        ("every blue moon 09:00", "I do not know what 'blue' means"),
        ("monday 5 09:00", "I do not know what '5' means"),
        ("²", "I do not know what '²' means"),
    ],
)
def test_an_impossible_schedule_is_refused_with_an_example(text: str, why: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        validate_cron(cron(text))

    assert why in str(refused.value)
    assert str(refused.value).endswith((".", "?"))
