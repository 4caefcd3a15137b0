"""What bake-offs need of a database, as protocols. Each call is one transaction; StoreError."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from council.bakeoffs.models import Bakeoff, Ending, Schedule, Suite
from council.bakeoffs.records import PackedRecord


@dataclass(frozen=True, slots=True)
class SuiteSummary:
    """A kept suite in one line: its newest version, and who kept it."""

    name: str
    scope: str
    version: str
    questions: int
    graded: int
    kept_at: datetime
    by: str = ""


@dataclass(frozen=True, slots=True)
class StoredSuite:
    """A version of a suite, with who kept it and when."""

    suite: Suite
    by: str
    at: datetime


class SuiteStore(Protocol):
    """Where suites are kept, every version of them."""

    async def keep(self, suite: Suite, by: str, at: datetime) -> bool:
        """Have this be the newest version of a scope's suite; False if it was already."""
        ...

    async def load(self, scope: str, name: str, version: str = "") -> Suite:
        """Give a version, the newest without one; SuiteError.

        A workspace that has none of this name is given the house's.
        """
        ...

    async def versions(self, scope: str, name: str) -> tuple[str, ...]:
        """Give the versions of a suite, newest first."""
        ...

    async def lines(self, scope: str) -> tuple[SuiteSummary, ...]:
        """Give what a workspace can choose from: its own suites and the house's, by name."""
        ...

    async def remove(self, scope: str, name: str) -> bool:
        """Have a suite in no list any more; its versions stay for the bake-offs that used them."""
        ...

    async def every(self) -> tuple[StoredSuite, ...]:
        """Give every version of every suite that is in a list, each suite's oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class BakeoffQuery:
    """Which bake-offs to list; as it stands, all of them. `scope` None is every workspace's."""

    scope: str | None = None
    suite: str = ""
    panel: str = ""
    schedule: str = ""
    unfinished: bool = False

    def admits(self, bakeoff: Bakeoff) -> bool:
        """Say whether a bake-off is among those wanted."""
        return (
            self.scope in {None, bakeoff.place.scope}
            and self.suite in {"", bakeoff.suite.name}
            and self.panel in {"", bakeoff.panel.name}
            and self.schedule in {"", bakeoff.schedule}
            and not (self.unfinished and bakeoff.ending)
        )


EVERY_BAKEOFF = BakeoffQuery()


class BakeoffStore(Protocol):
    """Where bake-offs are kept; their rounds are in the store of rounds."""

    async def open(self, bakeoff: Bakeoff) -> bool:
        """Keep a new bake-off and its suite's version; False if its id is kept already."""
        ...

    async def end(self, bakeoff_id: str, ending: Ending | None) -> None:
        """Note a bake-off's end; None has it be gone on with."""
        ...

    async def limit(self, bakeoff_id: str, cap_micro: int | None) -> None:
        """Have a bake-off spend so much at most, in micro-dollars; None is no cap."""
        ...

    async def load(self, bakeoff_id: str) -> Bakeoff:
        """Give a bake-off; BakeoffError."""
        ...

    async def recent(
        self, limit: int | None = None, wanted: BakeoffQuery = EVERY_BAKEOFF
    ) -> tuple[Bakeoff, ...]:
        """Give the bake-offs that are wanted, newest first."""
        ...


class ScheduleStore(Protocol):
    """Where schedules are kept."""

    async def keep(self, schedule: Schedule) -> None:
        """Keep a new schedule, or a changed one under its id.

        A slot that was taken meanwhile stays taken, unless the zone is another now.
        Raises ScheduleError where another of the scope has its name.
        """
        ...

    async def take(self, schedule_id: str, slot: str) -> bool:
        """Take a slot; False where it, or a later one, was taken before, by whatever process."""
        ...

    async def every(self, scope: str | None = None) -> tuple[Schedule, ...]:
        """Give the schedules of a scope, or all, by name."""
        ...

    async def remove(self, schedule_id: str) -> bool:
        """Have a schedule no more; its bake-offs stay."""
        ...


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """Which rounds a board counts; as it stands, all. None and "" leave a question open."""

    scope: str | None = None
    suite: str = ""
    suite_version: str = ""
    panel: str = ""
    category: str = ""
    bakeoff: str = ""
    since: datetime | None = None
    before: datetime | None = None

    def admits(self, record: PackedRecord) -> bool:
        """Say whether a record is among those wanted."""
        own = ("suite", "suite_version", "panel", "category", "bakeoff")
        return (
            self.scope in {None, record.scope}
            and all(getattr(self, name) in {"", getattr(record, name)} for name in own)
            and not (self.since and record.asked_at < self.since)
            and (self.before is None or record.asked_at < self.before)
        )


EVERY_RECORD = RecordQuery()


class RecordStore(Protocol):
    """Where the numbers of closed rounds are kept: they can always be made anew from the rounds."""

    async def missing(self, limit: int) -> tuple[str, ...]:
        """Give closed rounds, not forgotten, without a record of today's version, oldest first."""
        ...

    async def keep(self, records: Sequence[PackedRecord]) -> None:
        """Keep records, in place of older ones of the same rounds."""
        ...

    async def recent(self, wanted: RecordQuery = EVERY_RECORD) -> Sequence[PackedRecord]:
        """Give the records of today's version that are wanted, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class BakeoffStores:
    """All that bake-offs are kept in, and the numbers of every closed round.

    `records` are what leaderboards count, `votes` what bias is measured from.
    """

    suites: SuiteStore
    bakeoffs: BakeoffStore
    schedules: ScheduleStore
    records: RecordStore
    votes: RecordStore
