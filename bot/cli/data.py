"""The commands `council export`, `import` and `forget`: stored data out, in, and deleted."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from sys import stdin
from typing import Annotated

import typer

from bot.bakeoffs.leaderboard import parse_since
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.records import count_closed_round
from bot.bootstrap import Stores, open_stores
from bot.cli.output import (
    MISUSED,
    OnFault,
    Since,
    async_command,
    atomic_write,
    exit_on_faults,
    fail,
    text_option,
    unreadable,
)
from bot.cli.rounds import find_round_id
from bot.commands.rounds import UnderWayError, describe_quoting, forget_and_wipe
from bot.coordination.clock import now
from bot.render.formatting import count_noun, join_words
from bot.render.round_report.thread import round_title
from bot.render.text_safety import shorten_to_line
from bot.research.services import export_judgments
from bot.runners.retention import forget_older
from bot.settings import load_settings
from council.bakeoffs.models import Bakeoff, Ending, Schedule
from council.bakeoffs.ports import ScheduleStore, StoredSuite
from council.errors import CouncilError, ForgottenError, PanelError, ScheduleError, StoreError
from council.integrity.seal import find_changes
from council.ports import RoundQuery, Store
from council.registry import Registry
from council.rounds import Round
from storage.export import ExportedItem, ExportedRound, dump_item, dump_round, parse_item

Entry = ExportedRound | ExportedItem
EntryCounts = Counter[type[Entry]]
ExportLines = AsyncIterator[tuple[type[Entry], bytes]]

NOUNS: dict[type[Entry], str] = {
    ExportedRound: "round",
    StoredSuite: "version of a suite",
    Bakeoff: "bake-off",
    Schedule: "schedule",
}
JUDGMENTS = "judgments"
IMPORTED_UNFINISHED = "It was imported unfinished. Resume it to run the rest."


@async_command
async def export(
    round_id: Annotated[
        str, typer.Argument(help="A round's id (default: every round).", show_default=False)
    ] = "",
    since: Since = "",
    to: Annotated[
        Path | None,
        typer.Option("--to", "--output", help="Write to this file instead of standard output."),
    ] = None,
    kind: Annotated[
        str, text_option("--as", help="judgments: only rankings and votes, without texts.")
    ] = "",
) -> None:
    """Export one round, or everything, as JSON Lines.

    Each is a line of JSON that `council verify FILE` checks on any machine.
    """
    if round_id and since:
        fail("Name one round, or give --since DATE.", MISUSED)
    if kind not in {"", JUDGMENTS}:
        fail(f"--as must be {JUDGMENTS}, not {kind!r}.", MISUSED)
    asked_since = parse_since(since, now()) if since else None

    with exit_on_faults(err=True) as on_fault:
        async with open_stores(load_settings()) as stores:
            one = await find_round_id(stores.store, round_id) if round_id else ""
            if kind:
                ids = [one] if one else await _ids_since(stores, asked_since)
                lines = _judgment_lines(stores, ids, on_fault)
            elif one:
                lines = _round_lines(stores, one)
            else:
                lines = _all_lines(stores, asked_since, on_fault)
            await _write(lines, to)


@async_command
async def import_(
    file: Annotated[Path, typer.Argument(help="A file from `council export`.")],
) -> None:
    """Import an export; rounds that are already stored are skipped."""
    new: EntryCounts = Counter()
    known_count = 0
    forgotten: list[Round] = []
    with exit_on_faults(err=True) as on_fault:
        async with open_stores(load_settings()) as stores:
            suites = await bakeoff_stores(stores).suites.list_all()
            known_suites = {(stored.suite.scope, stored.suite.name) for stored in suites}
            for entry in read_export(file, on_fault, stores.registry):
                try:
                    is_new = await _store_entry(stores, known_suites, entry)
                except CouncilError as error:
                    on_fault(f"{_display_name(entry)}: {error}")
                    continue
                new[type(entry)] += is_new
                known_count += not is_new
                if is_new and isinstance(entry, ExportedRound) and entry.round_.forgotten:
                    forgotten.append(entry.round_)
            # The others are counted by the next leaderboard. Bake-offs have all been stored now.
            for round_ in forgotten:
                await count_closed_round(stores, round_)
        typer.echo(f"{_describe(new)} imported, {known_count} already here.")


@async_command
async def forget(
    round_id: Annotated[str, typer.Argument(help="A round's id.", show_default=False)] = "",
    older_than: Annotated[
        int | None, typer.Option(min=1, max=36500, help="Forget rounds older than this many days.")
    ] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Allow a round that has not finished.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete the texts of a round for good; standings, cost and digests stay.

    A running bot also deletes what it posted of the round, within a minute.
    """
    if bool(round_id) == bool(older_than):
        fail("Name one round, or give --older-than DAYS.", MISUSED)

    async with open_stores(load_settings()) as stores:
        if not older_than:
            round_ = await _load_forgettable(stores.store, round_id, unfinished=unfinished)
            others = await describe_quoting(stores.store, round_)
            question = f"Forget “{shorten_to_line(round_title(round_), 80)}”? {others}"
            _confirm(question.rstrip(), yes=yes)
            typer.echo(await forget_and_wipe(stores.store, round_, now()))
            return
        _confirm(f"Forget every round older than {count_noun(older_than, 'day')}?", yes=yes)
        with exit_on_faults(err=True) as on_fault:
            count = await forget_older(stores.store, older_than, now(), on_fault)
            aged = f"older than {count_noun(older_than, 'day')}"
            typer.echo(f"{count_noun(count, 'round')} {aged} forgotten.")


# --- Export


async def _write(lines: ExportLines, to: Path | None) -> None:
    if to is None:
        async for _, line in lines:
            typer.echo(line, nl=False)
        return
    written: EntryCounts = Counter()
    with atomic_write(to) as file:
        async for kind, line in lines:
            file.write(line)
            written[kind] += 1
    typer.echo(f"{_describe(written)} written to {to}.")


def _describe(counts: EntryCounts) -> str:
    """Return a phrase such as "2 rounds and 1 schedule"; rounds are always in it, and first."""
    kinds = [kind for kind in NOUNS if counts[kind] or kind is ExportedRound]
    nouns = ((counts[kind], *NOUNS[kind].partition(" of ")) for kind in kinds)
    return join_words(f"{count_noun(count, noun)}{of}{tail}" for count, noun, of, tail in nouns)


async def _all_lines(stores: Stores, since: datetime | None, on_fault: OnFault) -> ExportLines:
    # One round at a time is in memory.
    others = bakeoff_stores(stores)
    items: list[ExportedItem] = [
        *await others.suites.list_all(),
        *await others.schedules.list_all(),
        *(x for x in reversed(await others.bakeoffs.list_recent()) if not since or x.at >= since),
    ]
    for kept in items:
        try:
            yield type(kept), dump_item(kept).encode() + b"\n"
        except StoreError as error:
            on_fault(f"Left out: {error}")
    for round_id in await _ids_since(stores, since):
        try:
            async for line in _round_lines(stores, round_id):
                yield line
        except StoreError as error:
            on_fault(f"Left out: {error}")


async def _ids_since(stores: Stores, since: datetime | None) -> Sequence[str]:
    return await stores.store.ids(wanted=RoundQuery(since=since))


async def _judgment_lines(stores: Stores, ids: Iterable[str], on_fault: OnFault) -> ExportLines:
    for round_id in ids:
        try:
            lines = await export_judgments(stores, round_id)
        except StoreError as error:
            on_fault(f"Left out: {error}")
            continue
        except PanelError as error:  # another program's method, or a later version of it
            on_fault(f"Left out: round {round_id}. {error}")
            continue
        if lines:
            yield ExportedRound, lines.encode()


async def _round_lines(stores: Stores, round_id: str) -> ExportLines:
    round_, store = await stores.store.load(round_id), stores.store
    line = dump_round(
        round_,
        ratings=await store.ratings(round_id),
        votes=await store.votes(round_id),
        seal=await store.seal(round_id),
    )
    yield ExportedRound, line.encode() + b"\n"


# --- Import


def read_export(path: Path, on_fault: OnFault, registry: Registry) -> Iterator[Entry]:
    """Yield the entries of an export; `on_fault` gets each line that cannot be read.

    Its rounds are of the methods of this registry. Exit with code 2 if the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    try:
                        yield parse_item(line, registry)
                    except StoreError as error:
                        why = str(error).rstrip(".")
                        on_fault(f"{path.name}, line {number}: {why}.")
    except OSError as error:
        fail(unreadable(path, error), MISUSED)


def _display_name(entry: Entry) -> str:
    match entry:
        case ExportedRound(round_):
            return f"Round {round_.id!r}"
        case StoredSuite(suite):
            return f"Suite {suite.name!r}"
        case Bakeoff():
            return f"Bake-off {entry.id!r}"
        case Schedule():
            return f"Schedule {entry.name!r}"


async def _store_entry(stores: Stores, known_suites: set[tuple[str, str]], entry: Entry) -> bool:
    """Store an entry; return False if it was there already, as suites with any version are."""
    others = bakeoff_stores(stores)
    match entry:
        case ExportedRound():
            return await _store_round(stores.store, entry)
        case StoredSuite(suite, by, at):
            is_known = (suite.scope, suite.name) in known_suites
            return not is_known and await others.suites.save(suite, by, at)
        case Bakeoff():
            # Nobody has asked for money to be spent here.
            ending = entry.ending or Ending(entry.at, IMPORTED_UNFINISHED)
            return await others.bakeoffs.open(replace(entry, ending=ending))
        case Schedule():
            return await _store_schedule(others.schedules, entry)


async def _store_round(store: Store, record: ExportedRound) -> bool:
    # A round that joins the chain here must be the one that closed there.
    if changed := find_changes(record.round_, record.seal) if record.seal else ():
        raise StoreError(
            f"it was changed after it closed ({join_words(changed)}), so it was not imported."
        )
    is_new = await store.import_round(record.round_, record.seal)
    if is_new:
        # It was delivered where it was asked, if that place can be reached from here at all.
        await store.deliver(record.round_.id, delivered=True)
    at = now()  # a date in the future would outlive everything that is said here later
    for feedback in record.ratings:
        with suppress(ForgottenError):  # forgotten here since it was exported
            await store.rate(replace(feedback, at=min(feedback.at, at)))
    for vote in record.votes:
        await store.vote(replace(vote, at=min(vote.at, at)), imported=True)
    return is_new


async def _store_schedule(store: ScheduleStore, schedule: Schedule) -> bool:
    for other in await store.list_all(schedule.scope):
        if schedule.id == other.id:
            return False
        if schedule.name == other.name:
            raise ScheduleError("there is already another one with this name.")
    await store.save(replace(schedule, paused=True))
    return True


# --- Forget


def _confirm(question: str, *, yes: bool) -> None:
    """Ask before something is deleted; exit if the answer is no, or nobody can be asked."""
    if yes:
        return
    if not stdin.isatty():
        fail("Nothing was deleted. Add --yes to delete without confirmation.", MISUSED)
    if not typer.confirm(question):
        fail("Nothing was deleted.", 1)


async def _load_forgettable(store: Store, start: str, *, unfinished: bool) -> Round:
    # Another process may be running an unfinished round; once forgotten, nothing is added to it.
    round_ = await store.load(await find_round_id(store, start))
    if not (round_.closing or round_.forgotten or unfinished):
        raise UnderWayError(
            f"Round {round_.id} has not finished. Stop it first, then forget it with --unfinished."
        )
    return round_
