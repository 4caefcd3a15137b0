"""Everything stored, out to lines of JSON; one round at a time is held in memory."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.bootstrap import Stores, opened_books, opened_store
from bot.cli.output import FAILED, MISUSED, fail, moment, run, written_whole
from bot.commands.rounds import UnderWayError, forgotten
from bot.coordination.clock import now
from bot.render.formatting import counted, listed
from bot.runners.retention import ForgetOptions, forget_older
from bot.settings import SettingsError, load_settings
from council.bakeoffs.models import Bakeoff, Ending, Schedule
from council.bakeoffs.ports import BakeoffStores, StoredSuite
from council.errors import CouncilError, ForgottenError, ScheduleError, StoreError
from council.integrity.seal import changes
from council.ports import RoundQuery
from storage.export import Kept, Record, kept_line, line_of, thing_of

# --- Everything stored, out to lines of JSON; one round at a time is held in memory.

Tell = Callable[[str], None]
Things = Counter[type[Record | Kept]]
Lines = AsyncIterator[tuple[type[Record | Kept], bytes]]

NOUNS: dict[type[Record | Kept], str] = {
    Record: "round",
    StoredSuite: "version of a suite",
    Bakeoff: "bake-off",
    Schedule: "schedule",
}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is nothing we export, and why."""

    why: str


async def export_rounds(since: datetime | None, to: Path | None, tell: Tell) -> None:
    """Write everything, rounds last and oldest first; `tell` hears of what cannot be read."""
    async with opened_books(load_settings()) as books:
        await _write(_lines(books, since, tell), to)


async def export_round(start: str, to: Path | None) -> None:
    """Write one round with all that is stored of it: what verifying it elsewhere needs."""
    async with opened_books(load_settings()) as books:
        await _write(_one(books, await books.store.find(start)), to)


async def _write(lines: Lines, to: Path | None) -> None:
    """Print lines, or write them to a file that is there whole or not at all."""
    if to is None:
        async for _, line in lines:
            typer.echo(line, nl=False)
        return
    written: Things = Counter()
    with written_whole(to) as file:
        async for kind, line in lines:
            file.write(line)
            written[kind] += 1
    typer.echo(f"{said(written)} written to {to}.")


def said(things: Things) -> str:
    """Say how many things of each kind there are: "2 rounds and 1 schedule"; rounds come first."""
    kinds = [kind for kind in NOUNS if things[kind] or kind is Record]
    return listed(_counted(things[kind], NOUNS[kind]) for kind in kinds)


def _counted(number: int, noun: str) -> str:
    head, of, tail = noun.partition(" of ")
    return f"{counted(number, head)}{of}{tail}"


async def _one(books: Stores, round_id: str) -> Lines:
    round_, store = await books.store.load(round_id), books.store
    said = (await store.ratings(round_id), await store.votes(round_id))
    line = line_of(round_, *said, await store.seal(round_id))
    yield Record, line.encode() + b"\n"


async def _lines(books: Stores, since: datetime | None, tell: Tell) -> Lines:
    for kept in await _kept(books.bakeoff_stores, since):
        try:
            yield type(kept), kept_line(kept).encode() + b"\n"
        except StoreError as error:
            tell(f"Left out: {error}")
    for round_id in await books.store.ids(wanted=RoundQuery(since=since)):
        try:
            async for line in _one(books, round_id):
                yield line
        except StoreError as error:
            tell(f"Left out: {error}")


async def _kept(bench: BakeoffStores, since: datetime | None) -> list[Kept]:
    """Give what is kept beside rounds; of bake-offs those that began since then, oldest first."""
    bakeoffs = reversed(await bench.bakeoffs.recent())
    wanted = [one for one in bakeoffs if since is None or one.at >= since]
    return [*await bench.suites.every(), *await bench.schedules.every(), *wanted]


def exported(path: Path) -> Iterator[Record | Kept | Unreadable]:
    """Give what a file holds line by line, and why a line is nothing; SettingsError without one."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _read(line, f"{path.name}, line {number}")
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}."]) from None


def _read(line: bytes, where: str) -> Record | Kept | Unreadable:
    try:
        return thing_of(line)
    except StoreError as error:
        return Unreadable(f"{where}: {str(error).rstrip('.')}.")


# --- An export, in again: what is there already is left alone, and nothing starts by itself.

UNFINISHED = "It was taken in before its end; it can be gone on with."


async def import_rounds(path: Path, tell: Tell) -> None:
    """Keep what is exported and not there yet; `tell` hears of lines that are nothing of ours."""
    kept: Things = Counter()
    there = 0
    async with opened_books(load_settings()) as books:
        suites = await books.bakeoff_stores.suites.every()
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
    if isinstance(found, StoredSuite):
        return f"Suite {found.suite.name!r}"
    if isinstance(found, Bakeoff):
        return f"Bake-off {found.id!r}"
    return f"Schedule {found.name!r}"


class _Taking:
    """Takes things in, each by its kind; suites that were there before keep their versions."""

    def __init__(self, books: Stores, suites: set[tuple[str, str]]) -> None:
        self._store = books.store
        self._bench = books.bakeoff_stores
        self._suites = suites

    async def take(self, found: Record | Kept) -> bool:
        """Keep a thing; give False for one that was there."""
        if isinstance(found, Record):
            return await self._round(found)
        if isinstance(found, StoredSuite):
            return await self._suite(found)
        if isinstance(found, Bakeoff):
            return await self._bakeoff(found)
        return await self._schedule(found)

    async def _round(self, record: Record) -> bool:
        # A round that joins the chain here must not be another than the one that closed there.
        if found := changes(record.round_, record.seal) if record.seal else ():
            raise StoreError(f"it is not as it closed ({listed(found)}), so it is not taken in.")
        is_new = await self._store.import_round(record.round_, record.seal)
        if is_new:
            # Its place has long been told, if it can be reached from here at all.
            await self._store.deliver(record.round_.id, delivered=True)
        for feedback in record.ratings:
            with suppress(ForgottenError):  # words on a round that was forgotten here meanwhile
                await self._store.rate(feedback)
        for vote in record.votes:
            await self._store.vote(vote)
        return is_new

    async def _suite(self, kept: StoredSuite) -> bool:
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


# --- `council forget`: data gone, for one round or for all that are old.


async def forget_round(start: str, *, unfinished: bool) -> None:
    """Forget one round and say what was done.

    Another process may be carrying one that is not at its end: only whoever says that it has
    stopped can have it forgotten. Should it go on all the same, nothing is added to it any more.
    """
    async with opened_store(load_settings()) as store:
        round_ = await store.load(await store.find(start))
        if not (round_.closing or round_.forgotten or unfinished):
            raise UnderWayError(
                f"Round {round_.id} has not come to its end: stop it first, then forget it with "
                "--unfinished."
            )
        typer.echo(await forgotten(store, round_, now()))


async def forget_old(days: int, tell: Callable[[str], None]) -> None:
    """Forget every round that is older, and say how many; `tell` hears of each that cannot be."""
    async with opened_store(load_settings()) as store:
        count = await forget_older(store, days, now(), ForgetOptions(on_fault=tell))
    typer.echo(f"{counted(count, 'round')} older than {counted(days, 'day')} forgotten.")


# --- The commands for data out, data in and data gone.


def export(
    round_id: Annotated[
        str, typer.Argument(help="A round's id; else every round.", show_default=False)
    ] = "",
    since: Annotated[str | None, typer.Option(help="Rounds asked on this day or later.")] = None,
    to: Annotated[
        Path | None, typer.Option("--to", "--output", help="A file; else it is printed.")
    ] = None,
) -> None:
    """Write one round, or every round and what bake-offs keep, with all that is stored of it.

    Each is a line of JSON that `council verify FILE` checks on any machine.
    """
    if round_id and since:
        fail("Name one round, or give --since DATE.", MISUSED)
    asked_since = moment(since)

    told = _Told()
    run(export_round(round_id, to) if round_id else export_rounds(asked_since, to, told))
    told.end()


def import_(file: Annotated[Path, typer.Argument(help="An export.")]) -> None:
    """Take exported rounds in; those that are there already are left alone."""
    told = _Told()
    run(import_rounds(file, told))
    told.end()


def forget(
    round_id: Annotated[str, typer.Argument(help="A round's id.", show_default=False)] = "",
    older_than: Annotated[
        int | None, typer.Option(min=1, max=36500, help="Forget every round older, in days.")
    ] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="The round stopped before its end.")
    ] = False,
) -> None:
    """Remove what was said in a round for good; standings, cost and digests stay."""
    if bool(round_id) == bool(older_than):
        fail("Name one round, or give --older-than DAYS.", MISUSED)

    told = _Told()
    if older_than:
        run(forget_old(older_than, told))
    else:
        run(forget_round(round_id, unfinished=unfinished))
    told.end()


class _Told:
    """Tells on stderr what went wrong with one of many, and fails at the end."""

    def __init__(self) -> None:
        self._faults = 0

    def __call__(self, fault: str) -> None:
        self._faults += 1
        typer.echo(fault, err=True)

    def end(self) -> None:
        """End with exit code 1 if anything was told."""
        if self._faults:
            raise typer.Exit(FAILED)
