"""Suites, bake-offs and schedules as lines of JSON, and back, beside the rounds of an export.

Such a line says of what kind it is; a round's does not. A bake-off has its whole suite with it.
"""

from typing import Any

from pydantic import TypeAdapter

from council.bakeoffs.models import Bakeoff, Schedule
from council.bakeoffs.ports import KeptSuite
from council.errors import StoreError
from storage.documents import Record, record_from
from storage.lines import check_zone, checked, line_with, values_of

Kept = KeptSuite | Bakeoff | Schedule

SUITE, BAKEOFF, SCHEDULE = TypeAdapter(KeptSuite), TypeAdapter(Bakeoff), TypeAdapter(Schedule)


def kept_line(kept: Kept) -> str:
    """Give a suite's version, a bake-off or a schedule as one line, without a line end."""
    if isinstance(kept, KeptSuite):
        return line_with(SUITE, kept, f"Suite {kept.suite.name!r}", kind="suite")
    if isinstance(kept, Bakeoff):
        return line_with(BAKEOFF, kept, f"Bake-off {kept.id!r}", kind="bakeoff")
    return line_with(SCHEDULE, kept, f"Schedule {kept.name!r}", kind="schedule")


def thing_of(line: bytes | str) -> Record | Kept:
    """Give what a line holds, a round or what is kept beside rounds; StoreError for anything else.

    It names the field that no such thing can hold.
    """
    found = values_of(line)
    if "kind" not in found:
        return record_from(found)
    return _kept_from(found.pop("kind"), found)


def _kept_from(kind: object, found: dict[str, Any]) -> Kept:
    if kind == "suite":
        suite = checked(SUITE, found)
        check_zone("at", suite.at)
        return suite
    if kind == "bakeoff":
        bakeoff = checked(BAKEOFF, found)
        check_zone("at", bakeoff.at)
        if bakeoff.ending:
            check_zone("ending.at", bakeoff.ending.at)
        return bakeoff
    if kind == "schedule":
        schedule = checked(SCHEDULE, found)
        check_zone("made_at", schedule.made_at)
        return schedule
    raise StoreError(f"its kind {kind!r} is none that this version reads: use a newer version")
