"""Lines of suites, bake-offs, schedules and records in the export format."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import Base64Bytes, TypeAdapter

from council.bakeoffs.models import Bakeoff, Schedule
from council.bakeoffs.ports import StoredSuite
from council.bakeoffs.records import PackedRecord
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


@dataclass(frozen=True, slots=True)
class StoredNumbers:
    """The packed statistics or votes of a forgotten round, whose texts can't be counted again."""

    round_id: str
    asked_at: datetime
    panel: str
    scope: str
    bakeoff: str
    number: int
    suite: str
    suite_version: str
    category: str
    shape: str
    numbers: Base64Bytes
    version: int

    @property
    def packed(self) -> PackedRecord:
        """The same, as it is stored."""
        return PackedRecord(**{name: getattr(self, name) for name in PackedRecord._fields})


RECORD = ExportKind(
    name="bakeoffs.record",
    noun="record of a forgotten round",
    adapter=TypeAdapter(StoredNumbers),
    describe=lambda numbers: f"Record of round {numbers.round_id!r}",
)
VOTES = ExportKind(
    name="bakeoffs.votes",
    noun="set of numbers of a forgotten round",
    adapter=TypeAdapter(StoredNumbers),
    describe=lambda numbers: f"Numbers of round {numbers.round_id!r}",
)
KINDS = (SUITE, BAKEOFF, SCHEDULE, RECORD, VOTES)
