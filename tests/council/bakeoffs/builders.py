"""Builders of small valid values of bake-offs."""

from dataclasses import replace
from typing import Any

from council.bakeoffs.models import Schedule
from council.places import Place
from tests.builders import ASKED_AT


def a_schedule(schedule_id: str = "s1", **fields: Any) -> Schedule:  # noqa: ANN401
    """Return a schedule of every Monday at nine, with a cap and subscribers."""
    place = Place("slack", "T1", "C1")
    schedule = Schedule(
        id=schedule_id,
        name="weekly",
        suite="sql",
        panel="house",
        cron="0 9 * * 1",
        zone="UTC",
        words="every monday 09:00",
        place=place,
        made_by="U1",
        made_at=ASKED_AT,
        scope=place.scope,
        cap_micro=2_000_000,
        subscribers=("U1", "U2"),
    )
    return replace(schedule, **fields)
