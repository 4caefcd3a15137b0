"""Suites, bake-offs and schedules in exports and imports."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime

from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.records import count_closed_round
from bot.exports import Exporter, Importer
from bot.plugins import RecordSources
from council.bakeoffs.models import Bakeoff, Ending, Schedule
from council.bakeoffs.ports import ScheduleStore, StoredSuite
from council.errors import ScheduleError
from council.rounds import Round
from storage.bakeoffs.export import BAKEOFF, KINDS, SCHEDULE, SUITE
from storage.export import ExportedItem

IMPORTED_UNFINISHED = "It was imported unfinished. Resume it to run the rest."


class BakeoffExporter(Exporter):
    """Exports suites, schedules and bake-offs."""

    async def list_items(self, since: datetime | None) -> AsyncIterator[ExportedItem]:
        """Yield every version of a suite, every schedule, and the bake-offs since a time."""
        stores = bakeoff_stores(self.stores)
        for suite in await stores.suites.list_all():
            yield ExportedItem(SUITE, suite)
        for schedule in await stores.schedules.list_all():
            yield ExportedItem(SCHEDULE, schedule)
        for bakeoff in reversed(await stores.bakeoffs.list_recent()):
            if not since or bakeoff.at >= since:
                yield ExportedItem(BAKEOFF, bakeoff)


class BakeoffImporter(Importer):
    """Imports suites, schedules and bake-offs; nothing starts to run or to cost money."""

    kinds = KINDS

    def __init__(self, stores: RecordSources) -> None:
        super().__init__(stores)
        self._known_suites: set[tuple[str, str]] | None = None  # before the import

    async def store(self, item: ExportedItem) -> bool:
        """Store an item; return False if it was there already, as suites with any version are."""
        stores = bakeoff_stores(self.stores)
        match item.value:
            case StoredSuite(suite, by, at):
                if self._known_suites is None:
                    known = await stores.suites.list_all()
                    self._known_suites = {(one.suite.scope, one.suite.name) for one in known}
                is_known = (suite.scope, suite.name) in self._known_suites
                return not is_known and await stores.suites.save(suite, by, at)
            case Bakeoff() as bakeoff:
                # Nobody has asked for money to be spent here.
                ending = bakeoff.ending or Ending(bakeoff.at, IMPORTED_UNFINISHED)
                return await stores.bakeoffs.open(replace(bakeoff, ending=ending))
            case Schedule() as schedule:
                return await _store_schedule(stores.schedules, schedule)
        raise TypeError(f"{item.kind.name} is not of a bake-off")

    async def finish(self, rounds: Sequence[Round]) -> None:
        """Count forgotten rounds; the next leaderboard counts the others."""
        for round_ in rounds:
            await count_closed_round(self.stores, round_)


async def _store_schedule(store: ScheduleStore, schedule: Schedule) -> bool:
    for other in await store.list_all(schedule.scope):
        if schedule.id == other.id:
            return False
        if schedule.name == other.name:
            raise ScheduleError("there is already another one with this name.")
    await store.save(replace(schedule, paused=True))
    return True
