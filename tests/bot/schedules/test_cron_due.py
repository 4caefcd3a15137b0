"""The slot a schedule has to run now."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.schedules.cron import find_due_slot
from tests.builders import a_schedule

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

    assert (found and found.slot.key) == slot
    assert bool(found and found.is_late) is is_late


def test_a_taken_or_paused_slot_is_not_due() -> None:
    assert find_due_slot(replace(DAILY, last_slot="2026-11-23T09:00"), NINE) is None
    assert find_due_slot(replace(DAILY, last_slot="2026-11-23T09:17"), NINE) is None
    assert find_due_slot(replace(DAILY, paused=True), NINE) is None
