"""Suites, bake-offs, schedules and records that are gone when the process ends."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from council.bakeoffs.bakeoff import Bakeoff, Ending
from council.bakeoffs.packing import Packed
from council.bakeoffs.ports import (
    EVERY_BAKEOFF,
    EVERY_RECORD,
    Bench,
    SuiteLine,
    WantedBakeoffs,
    WantedRecords,
)
from council.bakeoffs.schedule import Schedule
from council.bakeoffs.suite import Suite
from council.errors import BakeoffError, ScheduleError, SuiteError
from storage.memory import MemoryStore


class MemorySuites:
    """Suites in lists, newest version last."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], list[tuple[Suite, datetime]]] = {}
        self._removed: set[tuple[str, str]] = set()

    async def keep(self, suite: Suite, by: str, at: datetime) -> bool:
        """Have this be the newest version of a scope's suite; False if it was already."""
        key = (suite.scope, suite.name)
        versions = self._kept.setdefault(key, [])
        is_new = key in self._removed or not versions or versions[-1][0].version != suite.version
        self._removed.discard(key)
        if is_new:
            versions.append((suite, at))
        return is_new

    async def load(self, scope: str, name: str, version: str = "") -> Suite:
        """Give a version, the newest without one; SuiteError where there is none."""
        for key in ((scope, name), ("", name)):
            for suite, _ in reversed(self._kept.get(key, [])):
                if suite.version.startswith(version) and (version or key not in self._removed):
                    return suite
        raise no_suite(name, version)

    async def versions(self, scope: str, name: str) -> tuple[str, ...]:
        """Give the versions of a suite, newest first."""
        kept = self._kept.get((scope, name)) or self._kept.get(("", name)) or []
        return tuple(dict.fromkeys(suite.version for suite, _ in reversed(kept)))

    async def lines(self, scope: str) -> tuple[SuiteLine, ...]:
        """Give what a workspace can choose from: its own suites and the house's, by name."""
        chosen: dict[str, SuiteLine] = {}
        for key in sorted(self._kept, key=lambda key: (key[0] == scope, key[1])):
            if key[0] in {scope, ""} and key not in self._removed:
                chosen[key[1]] = line_of(*self._kept[key][-1])
        return tuple(chosen[name] for name in sorted(chosen))

    async def remove(self, scope: str, name: str) -> bool:
        """Have a suite in no list any more."""
        key = (scope, name)
        if key not in self._kept or key in self._removed:
            return False
        self._removed.add(key)
        return True


class MemoryBakeoffs:
    """Bake-offs in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[str, Bakeoff] = {}

    async def open(self, bakeoff: Bakeoff) -> bool:
        """Keep a new bake-off; False if its id is kept already."""
        return self._kept.setdefault(bakeoff.id, bakeoff) is bakeoff

    async def end(self, bakeoff_id: str, ending: Ending | None) -> None:
        """Note a bake-off's end; None has it be gone on with."""
        self._kept[bakeoff_id] = replace(await self.load(bakeoff_id), ending=ending)

    async def limit(self, bakeoff_id: str, cap_micro: int | None) -> None:
        """Have a bake-off spend so much at most; None is no cap."""
        self._kept[bakeoff_id] = replace(await self.load(bakeoff_id), cap_micro=cap_micro)

    async def load(self, bakeoff_id: str) -> Bakeoff:
        """Give a bake-off; BakeoffError where there is none."""
        if bakeoff_id not in self._kept:
            raise no_bakeoff(bakeoff_id)
        return self._kept[bakeoff_id]

    async def recent(
        self, limit: int | None = None, wanted: WantedBakeoffs = EVERY_BAKEOFF
    ) -> tuple[Bakeoff, ...]:
        """Give the bake-offs that are wanted, newest first."""
        newest = sorted(self._kept.values(), key=lambda bakeoff: bakeoff.at, reverse=True)
        return tuple(filter(wanted.admits, newest))[:limit]


class MemorySchedules:
    """Schedules in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[str, Schedule] = {}

    async def keep(self, schedule: Schedule) -> None:
        """Keep a new schedule, or a changed one under its id."""
        for other in self._kept.values():
            same = (other.scope, other.name) == (schedule.scope, schedule.name)
            if same and other.id != schedule.id:
                raise name_taken(schedule.name)
        self._kept[schedule.id] = schedule

    async def take(self, schedule_id: str, slot: str) -> bool:
        """Take a slot; False where it, or a later one, was taken before."""
        found = self._kept.get(schedule_id)
        if found is None or slot <= found.last_slot:
            return False
        self._kept[schedule_id] = replace(found, last_slot=slot)
        return True

    async def every(self, scope: str | None = None) -> tuple[Schedule, ...]:
        """Give the schedules of a scope, or all, by name."""
        wanted = [one for one in self._kept.values() if scope in {None, one.scope}]
        return tuple(sorted(wanted, key=lambda schedule: (schedule.name, schedule.scope)))

    async def remove(self, schedule_id: str) -> bool:
        """Have a schedule no more; its bake-offs stay."""
        return self._kept.pop(schedule_id, None) is not None


class MemoryRecords:
    """Records in a dictionary, beside the store whose rounds they are of."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._kept: dict[str, Packed] = {}

    async def missing(self, limit: int) -> tuple[str, ...]:
        """Give closed rounds, not forgotten, that have no record."""
        lines = await self._store.recent()
        closed = (line for line in reversed(lines) if line.seconds is not None)
        return tuple(x.id for x in closed if not x.forgotten and x.id not in self._kept)[:limit]

    async def keep(self, records: Sequence[Packed]) -> None:
        """Keep records, in place of older ones of the same rounds."""
        self._kept |= {record.round_id: record for record in records}

    async def recent(self, wanted: WantedRecords = EVERY_RECORD) -> Sequence[Packed]:
        """Give the records that are wanted, oldest first."""
        found = filter(wanted.admits, self._kept.values())
        return sorted(found, key=lambda record: (record.asked_at, record.round_id))


def memory_bench(store: MemoryStore) -> Bench:
    """Give all that bake-offs are kept in, for as long as the process lives."""
    return Bench(MemorySuites(), MemoryBakeoffs(), MemorySchedules(), MemoryRecords(store))


def line_of(suite: Suite, at: datetime) -> SuiteLine:
    """Give a suite in one line."""
    graded = sum(question.reference is not None for question in suite.questions)
    return SuiteLine(suite.name, suite.scope, suite.version, len(suite.questions), graded, at)


def no_suite(name: str, version: str = "") -> SuiteError:
    """Give the error for a suite that is not there."""
    which = f"version {version!r} of suite {name!r}" if version else f"suite {name!r}"
    return SuiteError(f"There is no {which}: `/council suite` lists those there are.")


def no_bakeoff(bakeoff_id: str) -> BakeoffError:
    """Give the error for a bake-off that is not there."""
    return BakeoffError(
        f"There is no bake-off {bakeoff_id!r}: `/council bakeoff` lists those there are."
    )


def name_taken(name: str) -> ScheduleError:
    """Give the error for a schedule whose name another has."""
    return ScheduleError(f"There is a schedule {name!r} already: give this one another name.")
