"""Schedules: when a bake-off runs, and where it reports."""

from dataclasses import dataclass
from datetime import datetime

from council.places import Place


@dataclass(frozen=True, slots=True)
class Schedule:
    """A recurring bake-off; `cron` is standard cron in a time zone, `words` what was typed for it.

    A slot is a wall-clock minute of the zone, `2026-11-23T09:00`; `last_slot` is the newest that
    was taken, or the minute since which slots count: when it was made, resumed, or given another
    time. `subscribers` are mentioned when something changed.
    """

    id: str
    name: str
    suite: str
    panel: str
    cron: str
    zone: str
    words: str
    place: Place
    made_by: str
    made_at: datetime
    scope: str = ""
    paused: bool = False
    cap_micro: int | None = None
    last_slot: str = ""
    subscribers: tuple[str, ...] = ()

    def bakeoff_id(self, slot: str) -> str:
        """Give the id of the bake-off of a slot, so that no slot is taken twice."""
        return f"sched:{self.id}@{slot}"


def slot_of(moment: datetime) -> str:
    """Give the slot of a moment in its own time zone.

    The hour that comes twice when clocks go back has its slots once.
    """
    return f"{moment:%Y-%m-%dT%H:%M}"
