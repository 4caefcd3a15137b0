"""Lines of suites, bake-offs and schedules in the export format."""

from pydantic import TypeAdapter

from council.bakeoffs.models import Bakeoff, Schedule
from council.bakeoffs.ports import StoredSuite
from storage.export import ExportKind

SUITE = ExportKind(
    name="suite",
    noun="version of a suite",
    adapter=TypeAdapter(StoredSuite),
    describe=lambda stored: f"Suite {stored.suite.name!r}",
)
BAKEOFF = ExportKind(
    name="bakeoff",
    noun="bake-off",
    adapter=TypeAdapter(Bakeoff),
    describe=lambda bakeoff: f"Bake-off {bakeoff.id!r}",
)
SCHEDULE = ExportKind(
    name="schedule",
    noun="schedule",
    adapter=TypeAdapter(Schedule),
    describe=lambda schedule: f"Schedule {schedule.name!r}",
)
KINDS = (SUITE, BAKEOFF, SCHEDULE)
