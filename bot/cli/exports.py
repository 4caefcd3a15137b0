"""Everything stored, out to lines of JSON; one round at a time is held in memory."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import typer

from bot.books import Books, opened_books
from bot.cli.whole_file import written_whole
from bot.render.formatting import counted, listed
from bot.settings import SettingsError, load_settings
from council.bakeoffs.models import Bakeoff, Schedule
from council.bakeoffs.ports import Bench, KeptSuite
from council.errors import StoreError
from council.ports import Wanted
from storage.export import Kept, Record, kept_line, line_of, thing_of

Tell = Callable[[str], None]
Things = Counter[type[Record | Kept]]
Lines = AsyncIterator[tuple[type[Record | Kept], bytes]]

NOUNS: dict[type[Record | Kept], str] = {
    Record: "round",
    KeptSuite: "version of a suite",
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


async def _one(books: Books, round_id: str) -> Lines:
    round_, store = await books.store.load(round_id), books.store
    said = (await store.ratings(round_id), await store.votes(round_id))
    line = line_of(round_, *said, await store.seal(round_id))
    yield Record, line.encode() + b"\n"


async def _lines(books: Books, since: datetime | None, tell: Tell) -> Lines:
    for kept in await _kept(books.bench, since):
        try:
            yield type(kept), kept_line(kept).encode() + b"\n"
        except StoreError as error:
            tell(f"Left out: {error}")
    for round_id in await books.store.ids(wanted=Wanted(since=since)):
        try:
            async for line in _one(books, round_id):
                yield line
        except StoreError as error:
            tell(f"Left out: {error}")


async def _kept(bench: Bench, since: datetime | None) -> list[Kept]:
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
