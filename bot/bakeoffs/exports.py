"""Suites, bake-offs, schedules and records in exports and imports."""

from base64 import b64encode
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.bakeoffs.baselines import BASELINE
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.records import count_closed_round
from bot.exports import Exporter, Importer
from bot.plugins import RecordSources
from council.bakeoffs.models import Bakeoff, Ending, Schedule
from council.bakeoffs.ports import RecordQuery, RecordStore, ScheduleStore, StoredSuite
from council.errors import ScheduleError
from council.ports import RoundQuery
from council.rounds import Round
from storage.bakeoffs.export import (
    BAKEOFF,
    KINDS,
    RECORD,
    SCHEDULE,
    SUITE,
    VOTES,
    StoredNumbers,
)
from storage.export import ExportedItem

IMPORTED_UNFINISHED = "It was imported unfinished. Resume it to run the rest."


class BakeoffExporter(Exporter):
    """Exports suites, schedules, bake-offs, and the records of forgotten rounds."""

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

    async def list_items_of_rounds(self, since: datetime | None) -> AsyncIterator[ExportedItem]:
        """Yield the numbers of forgotten rounds; those of others are counted where they are."""
        stores, rounds = bakeoff_stores(self.stores), self.stores.store
        forgotten = {*await rounds.ids()} - {*await rounds.ids(wanted=RoundQuery(remembered=True))}
        for kind, numbers in ((RECORD, stores.records), (VOTES, stores.votes)):
            for packed in await numbers.list_recent(RecordQuery(since=since)):
                if packed.round_id in forgotten:
                    encoded = b64encode(packed.numbers)
                    values = {**packed._asdict(), "numbers": encoded}
                    yield ExportedItem(kind, kind.adapter.validate_python(values))


class BakeoffImporter(Importer):
    """Imports suites, schedules, bake-offs and records; nothing starts to run or to cost money."""

    kinds = KINDS
    settings = (BASELINE,)

    def __init__(self, stores: RecordSources) -> None:
        super().__init__(stores)
        self._known_suites: set[tuple[str, str]] | None = None  # before the import
        self._stored: Counter[str] = Counter()  # records and votes of a round

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
            case StoredNumbers() as numbers:
                store = stores.records if item.kind == RECORD else stores.votes
                return await self._store_numbers(store, numbers)
        raise TypeError(f"{item.kind.name} is not of a bake-off")

    async def _store_numbers(self, store: RecordStore, numbers: StoredNumbers) -> bool:
        """Store the numbers of a forgotten round that has none; others are counted here."""
        round_ = await self.stores.store.load(numbers.round_id)
        if not round_.forgotten or round_.asked_at != numbers.asked_at:
            return False
        moment = RecordQuery(
            since=round_.asked_at, before=round_.asked_at + timedelta(microseconds=1)
        )
        if any(one.round_id == round_.id for one in await store.list_recent(moment)):
            return False
        await store.save([numbers.packed])
        self._stored[round_.id] += 1
        return True

    async def finish(self, rounds: Sequence[Round]) -> None:
        """Count forgotten rounds without numbers; the next leaderboard counts the others."""
        for round_ in rounds:
            if self._stored[round_.id] < len((RECORD, VOTES)):
                await count_closed_round(self.stores, round_)


async def _store_schedule(store: ScheduleStore, schedule: Schedule) -> bool:
    for other in await store.list_all(schedule.scope):
        if schedule.id == other.id:
            return False
        if schedule.name == other.name:
            raise ScheduleError("there is already another one with this name.")
    await store.save(replace(schedule, paused=True))
    return True
