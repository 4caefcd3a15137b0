"""Store protocols of bake-offs and their queries; each call is one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from council.bakeoffs.models import Bakeoff, Ending, Schedule, Suite
from council.bakeoffs.records import PackedRecord


@dataclass(frozen=True, slots=True)
class SuiteSummary:
    """One line of a list of suites: the newest version, and who saved it."""

    name: str
    scope: str
    version: str
    questions: int
    graded: int
    kept_at: datetime
    by: str = ""


@dataclass(frozen=True, slots=True)
class StoredSuite:
    """A version of a suite, with who saved it and when."""

    suite: Suite
    by: str
    at: datetime


class SuiteStore(Protocol):
    """Stores every version of every suite."""

    async def save(self, suite: Suite, by: str, at: datetime) -> bool:
        """Store a suite as the newest version in its scope; return False if it already was."""

    async def load(self, scope: str, name: str, version: str = "") -> Suite:
        """Return a version of a workspace's suite, else of the shared one; raise SuiteError."""

    async def versions(self, scope: str, name: str) -> tuple[str, ...]:
        """Return the versions of a suite, newest first."""

    async def list_summaries(self, scope: str) -> tuple[SuiteSummary, ...]:
        """Return the suites a workspace can choose from, its own and the shared ones, by name."""

    async def remove(self, scope: str, name: str) -> bool:
        """Remove a suite from all lists; its versions stay for the bake-offs that used them."""

    async def list_all(self) -> tuple[StoredSuite, ...]:
        """Return every version of every listed suite, oldest first within each suite."""


@dataclass(frozen=True, slots=True)
class BakeoffQuery:
    """A filter for bake-offs; the default matches all. `scope` None means every workspace."""

    scope: str | None = None
    suite: str = ""
    panel: str = ""
    schedule: str = ""
    unfinished: bool = False
    before: datetime | None = None


ALL_BAKEOFFS = BakeoffQuery()


class BakeoffStore(Protocol):
    """Stores bake-offs; their rounds are in the store of rounds."""

    async def open(self, bakeoff: Bakeoff) -> bool:
        """Store a new bake-off and its suite's version; return False if the id exists already."""

    async def end(self, bakeoff_id: str, ending: Ending | None) -> None:
        """Store a bake-off's ending; None reopens it."""

    async def limit(self, bakeoff_id: str, cap_micro: int | None) -> None:
        """Set what a bake-off may spend at most, in micro-dollars; None removes the cap."""

    async def load(self, bakeoff_id: str) -> Bakeoff:
        """Return a bake-off. Raise BakeoffError if there is none with this id."""

    async def list_recent(
        self, limit: int | None = None, wanted: BakeoffQuery = ALL_BAKEOFFS
    ) -> tuple[Bakeoff, ...]:
        """Return the bake-offs that match, newest first."""


class ScheduleStore(Protocol):
    """Stores schedules."""

    async def save(self, schedule: Schedule) -> None:
        """Store a new schedule, or a changed one under its id.

        A slot that was taken meanwhile stays taken, unless the time zone changed.
        Raise ScheduleError if another schedule of the scope has the same name.
        """

    async def claim_slot(self, schedule_id: str, slot: str) -> bool:
        """Take a slot; return False if any process took this slot or a later one before."""

    async def list_all(self, scope: str | None = None) -> tuple[Schedule, ...]:
        """Return the schedules of a scope, or all, by name."""

    async def remove(self, schedule_id: str) -> bool:
        """Remove a schedule; its bake-offs stay."""


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """A filter for records; the default admits all. None and "" match anything."""

    scope: str | None = None
    suite: str = ""
    suite_version: str = ""
    panel: str = ""
    category: str = ""
    bakeoff: str = ""
    since: datetime | None = None
    before: datetime | None = None
    newest: int = 0  # how many of the newest at most; 0 is no limit

    def admits(self, record: PackedRecord) -> bool:
        """Return whether a record matches."""
        exact = ("suite", "suite_version", "panel", "category", "bakeoff")
        return (
            self.scope in {None, record.scope}
            and all(getattr(self, name) in {"", getattr(record, name)} for name in exact)
            and not (self.since and record.asked_at < self.since)
            and (self.before is None or record.asked_at < self.before)
        )


ALL_RECORDS = RecordQuery()


class RecordStore(Protocol):
    """Stores the numbers of closed rounds; while a round has its texts, they can be recomputed."""

    async def list_missing(self, limit: int) -> tuple[str, ...]:
        """Return closed rounds whose record is missing, oldest first.

        Likewise those with an old record, unless they are forgotten.
        """

    async def save(self, records: Sequence[PackedRecord]) -> None:
        """Store records, replacing older ones of rounds that are not forgotten."""

    async def list_recent(self, wanted: RecordQuery = ALL_RECORDS) -> Sequence[PackedRecord]:
        """Return the records that match, oldest first."""


@dataclass(frozen=True, slots=True)
class BakeoffStores:
    """All stores of bake-offs; leaderboards use `records`, the bias report `votes`."""

    suites: SuiteStore
    bakeoffs: BakeoffStore
    schedules: ScheduleStore
    records: RecordStore
    votes: RecordStore
