"""Time zones by name, and suggestions for misspelt ones."""

from zoneinfo import ZoneInfo, available_timezones

import pytest

from bot.schedules.parser import find_zone, suggest_zone


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
