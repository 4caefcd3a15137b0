"""An export, in again: what is there already is left alone, and nothing starts by itself."""

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import typer

from bot.books import Books, opened_books
from bot.cli.exports import Tell, Things, Unreadable, exported, said
from bot.render.formatting import listed
from bot.settings import load_settings
from council.bakeoffs.models import Bakeoff, Ending, Schedule
from council.bakeoffs.ports import KeptSuite
from council.errors import CouncilError, ForgottenError, ScheduleError, StoreError
from council.integrity.seal import changes
from storage.export import Kept, Record

UNFINISHED = "It was taken in before its end; it can be gone on with."


async def import_rounds(path: Path, tell: Tell) -> None:
    """Keep what is exported and not there yet; `tell` hears of lines that are nothing of ours."""
    kept: Things = Counter()
    there = 0
    async with opened_books(load_settings()) as books:
        suites = await books.bench.suites.every()
        taking = _Taking(books, {(kept.suite.scope, kept.suite.name) for kept in suites})
        for found in exported(path):
            if isinstance(found, Unreadable):
                tell(found.why)
                continue
            try:
                is_new = await taking.take(found)
            except CouncilError as error:
                tell(f"{_named(found)}: {error}")
                continue
            kept[type(found)] += is_new
            there += not is_new
    typer.echo(f"{said(kept)} taken in, {there} there already.")


def _named(found: Record | Kept) -> str:
    if isinstance(found, Record):
        return f"Round {found.round_.id!r}"
    if isinstance(found, KeptSuite):
        return f"Suite {found.suite.name!r}"
    if isinstance(found, Bakeoff):
        return f"Bake-off {found.id!r}"
    return f"Schedule {found.name!r}"


class _Taking:
    """Takes things in, each by its kind; suites that were there before keep their versions."""

    def __init__(self, books: Books, suites: set[tuple[str, str]]) -> None:
        self._store = books.store
        self._bench = books.bench
        self._suites = suites

    async def take(self, found: Record | Kept) -> bool:
        """Keep a thing; give False for one that was there."""
        if isinstance(found, Record):
            return await self._round(found)
        if isinstance(found, KeptSuite):
            return await self._suite(found)
        if isinstance(found, Bakeoff):
            return await self._bakeoff(found)
        return await self._schedule(found)

    async def _round(self, record: Record) -> bool:
        # A round that joins the chain here must not be another than the one that closed there.
        if found := changes(record.round_, record.seal) if record.seal else ():
            raise StoreError(f"it is not as it closed ({listed(found)}), so it is not taken in.")
        is_new = await self._store.take_in(record.round_, record.seal)
        if is_new:
            # Its place has long been told, if it can be reached from here at all.
            await self._store.deliver(record.round_.id, delivered=True)
        for feedback in record.ratings:
            with suppress(ForgottenError):  # words on a round that was forgotten here meanwhile
                await self._store.rate(feedback)
        for vote in record.votes:
            await self._store.vote(vote)
        return is_new

    async def _suite(self, kept: KeptSuite) -> bool:
        if (kept.suite.scope, kept.suite.name) in self._suites:
            return False
        return await self._bench.suites.keep(kept.suite, kept.by, kept.at)

    async def _bakeoff(self, bakeoff: Bakeoff) -> bool:
        # Nobody has asked for money to be spent here.
        ending = bakeoff.ending or Ending(bakeoff.at, UNFINISHED)
        return await self._bench.bakeoffs.open(replace(bakeoff, ending=ending))

    async def _schedule(self, schedule: Schedule) -> bool:
        for other in await self._bench.schedules.every(schedule.scope):
            if schedule.id == other.id:
                return False
            if schedule.name == other.name:
                raise ScheduleError("there is another of this name already.")
        await self._bench.schedules.keep(replace(schedule, paused=True))
        return True
