"""In-memory stores of suites, bake-offs, schedules and records."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from council.bakeoffs.bias import votes as vote_rules
from council.bakeoffs.models import Bakeoff, Ending, Schedule, Suite
from council.bakeoffs.ports import (
    ALL_BAKEOFFS,
    ALL_RECORDS,
    BakeoffQuery,
    BakeoffStores,
    RecordQuery,
    StoredSuite,
    SuiteSummary,
)
from council.bakeoffs.records import COMPUTED_SINCE, PackedRecord
from council.places import Place
from council.ports import RoundSummary, Store
from storage.bakeoffs.bakeoffs import (
    bakeoff_not_found,
    schedule_name_taken,
    suite_not_found,
    suite_summary,
)
from tests.fakes.memory_store import MemoryStore


class MemorySuites:
    """Suites in lists, newest version last."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], list[StoredSuite]] = {}
        self._removed: set[tuple[str, str]] = set()

    async def save(self, suite: Suite, by: str, at: datetime) -> bool:
        key = (suite.scope, suite.name)
        versions = self._kept.setdefault(key, [])
        is_newest = bool(versions) and versions[-1].suite.version == suite.version
        if is_newest and key not in self._removed:
            return False
        self._removed.discard(key)
        others = [kept for kept in versions if kept.suite.version != suite.version]
        self._kept[key] = [*others, StoredSuite(suite, by, at)]
        return True

    async def load(self, scope: str, name: str, version: str = "") -> Suite:
        for key in ((scope, name), ("", name)):
            for kept in reversed(self._kept.get(key, [])):
                is_meant = kept.suite.version.startswith(version)
                if is_meant and (version or key not in self._removed):
                    return kept.suite
        raise suite_not_found(name, version)

    async def versions(self, scope: str, name: str) -> tuple[str, ...]:
        kept = self._kept.get((scope, name)) or self._kept.get(("", name)) or []
        return tuple(one.suite.version for one in reversed(kept))

    async def list_summaries(self, scope: str) -> tuple[SuiteSummary, ...]:
        chosen: dict[str, SuiteSummary] = {}
        for key in sorted(self._kept, key=lambda key: (key[0] == scope, key[1])):
            if key[0] in {scope, ""} and key not in self._removed:
                chosen[key[1]] = suite_summary(self._kept[key][-1])
        return tuple(chosen[name] for name in sorted(chosen))

    async def remove(self, scope: str, name: str) -> bool:
        key = (scope, name)
        if key not in self._kept or key in self._removed:
            return False
        self._removed.add(key)
        return True

    async def list_all(self) -> tuple[StoredSuite, ...]:
        listed = [key for key in sorted(self._kept) if key not in self._removed]
        return tuple(kept for key in listed for kept in self._kept[key])

    def drop(self, scope: str) -> None:
        self._kept = {key: kept for key, kept in self._kept.items() if key[0] != scope}


class MemoryBakeoffs:
    """Bake-offs in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[str, Bakeoff] = {}

    async def open(self, bakeoff: Bakeoff) -> bool:
        is_new = bakeoff.id not in self._kept
        self._kept.setdefault(bakeoff.id, bakeoff)
        return is_new

    async def end(self, bakeoff_id: str, ending: Ending | None) -> None:
        self._kept[bakeoff_id] = replace(await self.load(bakeoff_id), ending=ending)

    async def limit(self, bakeoff_id: str, cap_micro: int | None) -> None:
        self._kept[bakeoff_id] = replace(await self.load(bakeoff_id), cap_micro=cap_micro)

    async def load(self, bakeoff_id: str) -> Bakeoff:
        if bakeoff_id not in self._kept:
            raise bakeoff_not_found(bakeoff_id)
        return self._kept[bakeoff_id]

    async def list_recent(
        self, limit: int | None = None, wanted: BakeoffQuery = ALL_BAKEOFFS
    ) -> tuple[Bakeoff, ...]:
        by_id = sorted(self._kept.values(), key=lambda bakeoff: bakeoff.id)
        newest = sorted(by_id, key=lambda bakeoff: bakeoff.at, reverse=True)
        return tuple(bakeoff for bakeoff in newest if _is_wanted(bakeoff, wanted))[:limit]

    def drop(self, left: Place) -> list[str]:
        gone = [
            key
            for key, bakeoff in self._kept.items()
            if (bakeoff.place.chat, bakeoff.place.workspace) == (left.chat, left.workspace)
        ]
        for key in gone:
            del self._kept[key]
        return gone


def _is_wanted(bakeoff: Bakeoff, wanted: BakeoffQuery) -> bool:
    return (
        wanted.scope in {None, bakeoff.place.scope}
        and wanted.suite in {"", bakeoff.suite.name}
        and wanted.panel in {"", bakeoff.panel.name}
        and wanted.schedule in {"", bakeoff.schedule}
        and not (wanted.unfinished and bakeoff.ending)
        and (wanted.before is None or bakeoff.at < wanted.before)
    )


class MemorySchedules:
    """Schedules in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[str, Schedule] = {}

    async def save(self, schedule: Schedule) -> None:
        for other in self._kept.values():
            same = (other.scope, other.name) == (schedule.scope, schedule.name)
            if same and other.id != schedule.id:
                raise schedule_name_taken(schedule.name)
        before = self._kept.get(schedule.id, schedule)
        self._kept[schedule.id] = replace(schedule, last_slot=_latest_slot(before, schedule))

    async def claim_slot(self, schedule_id: str, slot: str) -> bool:
        found = self._kept.get(schedule_id)
        if found is None or slot <= found.last_slot:
            return False
        self._kept[schedule_id] = replace(found, last_slot=slot)
        return True

    async def list_all(self, scope: str | None = None) -> tuple[Schedule, ...]:
        wanted = [one for one in self._kept.values() if scope in {None, one.scope}]
        return tuple(sorted(wanted, key=lambda schedule: (schedule.name, schedule.scope)))

    async def remove(self, schedule_id: str) -> bool:
        return self._kept.pop(schedule_id, None) is not None

    def drop(self, scope: str) -> None:
        self._kept = {key: one for key, one in self._kept.items() if one.scope != scope}


def _latest_slot(before: Schedule, after: Schedule) -> str:
    """Return the last slot of a changed schedule: in the same zone it never goes back."""
    if before.zone != after.zone:
        return after.last_slot
    return max(before.last_slot, after.last_slot)


class MemoryRecords:
    """Records in a dictionary, next to the store of their rounds."""

    def __init__(self, store: Store, computed_since: int = COMPUTED_SINCE) -> None:
        self._store = store
        self._computed_since = computed_since
        self._kept: dict[str, PackedRecord] = {}

    async def list_missing(self, limit: int) -> tuple[str, ...]:
        lines = [
            line
            for line in await self._store.list_summaries()
            if line.seconds is not None and self._is_missing(line)
        ]
        oldest_first = sorted(lines, key=lambda line: (line.asked_at, line.id))
        return tuple(line.id for line in oldest_first)[:limit]

    def _is_missing(self, line: RoundSummary) -> bool:
        own = self._kept.get(line.id)
        return own is None or (own.version < self._computed_since and not line.forgotten)

    async def save(self, records: Sequence[PackedRecord]) -> None:
        forgotten = {line.id for line in await self._store.list_summaries() if line.forgotten}
        for record in records:
            if record.round_id not in forgotten & self._kept.keys():
                self._kept[record.round_id] = record

    async def list_recent(self, wanted: RecordQuery = ALL_RECORDS) -> Sequence[PackedRecord]:
        oldest_first = sorted(self._kept.values(), key=lambda one: (one.asked_at, one.round_id))
        return tuple(filter(wanted.admits, oldest_first))[-wanted.newest :]

    def drop(self, round_id: str) -> None:
        self._kept.pop(round_id, None)


def memory_bench(
    store: MemoryStore, on_delete: Callable[[str], None] = lambda _: None
) -> BakeoffStores:
    """Return in-memory stores for everything about bake-offs.

    `on_delete` is called with the id of each round and bake-off of a deleted workspace.
    """
    suites, bakeoffs, schedules = MemorySuites(), MemoryBakeoffs(), MemorySchedules()
    records, votes = MemoryRecords(store), MemoryRecords(store, vote_rules.COMPUTED_SINCE)

    def delete(deleted: Place, round_ids: Sequence[str]) -> None:
        """Delete what a workspace had; what all workspaces share stays."""
        if deleted.scope:
            suites.drop(deleted.scope)
            schedules.drop(deleted.scope)
        for round_id in round_ids:
            records.drop(round_id)
            votes.drop(round_id)
        for deleted_id in (*round_ids, *bakeoffs.drop(deleted)):
            on_delete(deleted_id)

    store.on_delete.append(delete)
    return BakeoffStores(suites, bakeoffs, schedules, records, votes)
