"""Rounds out to lines of JSON, and in again; one round at a time is held in memory."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import typer

from bot.cli.whole_file import written_whole
from bot.render.figures import counted
from bot.settings import SettingsError, load_settings
from bot.wiring import opened_store
from council.errors import ForgottenError, StoreError
from council.ports import Store, Wanted
from storage.documents import Record, line_of, record_of

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is no round, and why."""

    why: str


async def export_rounds(since: datetime | None, to: Path | None, tell: Tell) -> None:
    """Write every round, oldest first, a line each; `tell` hears of one that cannot be read."""
    async with opened_store(load_settings()) as store:
        lines = _lines(store, Wanted(since=since), tell)
        if to is None:
            async for line in lines:
                typer.echo(line, nl=False)
            return
        count = 0
        with written_whole(to) as file:
            async for line in lines:
                file.write(line)
                count += 1
    typer.echo(f"{counted(count, 'round')} written to {to}.")


async def _lines(store: Store, wanted: Wanted, tell: Tell) -> AsyncIterator[bytes]:
    for round_id in await store.ids(wanted=wanted):
        try:
            line = line_of(await store.load(round_id), await store.ratings(round_id))
            yield line.encode() + b"\n"
        except StoreError as error:
            tell(f"Left out: {error}")


async def import_rounds(path: Path, tell: Tell) -> None:
    """Keep every exported round that is not there yet; `tell` hears of lines that are no round."""
    kept = there = 0
    async with opened_store(load_settings()) as store:
        for found in exported(path):
            if isinstance(found, Unreadable):
                tell(found.why)
                continue
            try:
                is_new = await _kept(store, found)
            except StoreError as error:
                tell(f"Round {found.round_.id!r}: {error}")
                continue
            kept, there = kept + is_new, there + (not is_new)
    typer.echo(f"{counted(kept, 'round')} taken in, {there} there already.")


async def _kept(store: Store, record: Record) -> bool:
    """Keep a round and what people think of it; give False for a round that was there."""
    is_new = await store.open(record.round_)
    if is_new:
        # Its place has long been told, if it can be reached from here at all.
        await store.deliver(record.round_.id, delivered=True)
    for feedback in record.ratings:
        with suppress(ForgottenError):  # words on a round that was forgotten here meanwhile
            await store.rate(feedback)
    return is_new


def exported(path: Path) -> Iterator[Record | Unreadable]:
    """Give a file's rounds one by one, and why a line is none; SettingsError without a file."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _read(line, f"{path.name}, line {number}")
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}."]) from None


def _read(line: bytes, where: str) -> Record | Unreadable:
    try:
        return record_of(line)
    except StoreError as error:
        return Unreadable(f"{where}: {str(error).rstrip('.')}.")
