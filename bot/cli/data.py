"""The commands `council export`, `import` and `forget`: stored data out, in, and deleted."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from sys import stdin
from typing import Annotated, BinaryIO

import typer

from bot.admin_settings import SETTINGS, parse_changes
from bot.api_keys import KEY_KIND, without_secret
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
from bot.context import PICKED_PANEL
from bot.coordination.clock import now, parse_moment
from bot.database import Stores, open_stores
from bot.exports import Exporter, Importer
from bot.plugins import Plugins
from bot.render.formatting import count_noun, join_words
from bot.render.round_report.thread import round_title
from bot.render.text_safety import shorten_to_line
from bot.runners.retention import forget_older
from bot.settings import load_settings
from council.errors import CouncilError, ForgottenError, PanelError, StoreError
from council.integrity.seal import find_changes
from council.ports import RoundQuery, Store
from council.registry import Registry
from council.rounds import Round
from storage.archive import SETTING, SPENDING, DaySpending, StoredSetting
from storage.export import (
    MAX_LINE_BYTES,
    ExportedItem,
    ExportedRound,
    ExportKind,
    MissingPluginError,
    dump_item,
    dump_round,
    parse_item,
)

Entry = ExportedRound | ExportedItem
ROUNDS_AT_ONCE = 50  # in memory
ROUND = "round"  # what an entry is called, unless it is of another kind
EntryCounts = Counter[str]
ExportLines = AsyncIterator[tuple[str, bytes]]

LEFT_OUT = (
    "Not exported: the rows of {tables}, which belong to a plug-in that is not here. Install it, "
    "then export again."
)


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
        str, text_option("--as", help="A format of a plug-in: judgments has no texts.")
    ] = "",
) -> None:
    """Export one round, or everything, as JSON Lines.

    Each is a line of JSON that `council verify FILE` checks on any machine.
    """
    if round_id and since:
        fail("Name one round, or give --since DATE.", MISUSED)
    asked_since = parse_moment(since, now()) if since else None

    with exit_on_faults(err=True) as on_fault:
        async with open_stores(load_settings()) as stores:
            one = await find_round_id(stores.store, round_id) if round_id else ""
            if kind:
                exporter = _find_format(stores, kind)
                ids = [one] if one else await _ids_since(stores, asked_since)
                lines = _format_lines(exporter, kind, ids, on_fault)
            elif one:
                lines = _round_lines(stores, one)
            else:
                lines = _all_lines(stores, asked_since, on_fault)
            await _write(lines, to, export_kinds(stores.plugins))
            if not (kind or one) and (unknown := await stores.unknown_tables()):
                typer.echo(LEFT_OUT.format(tables=join_words(unknown)), err=True)


@async_command
async def import_(
    file: Annotated[Path, typer.Argument(help="A file from `council export`.")],
) -> None:
    """Import an export; rounds that are already stored are skipped."""
    new: EntryCounts = Counter()
    known_count = 0
    forgotten: list[str] = []
    with exit_on_faults(err=True) as on_fault:
        async with open_stores(load_settings()) as stores:
            importers = _load_importers(stores)
            kinds = export_kinds(stores.plugins)
            for entry in read_export(file, kinds, on_fault, stores.registry):
                try:
                    is_new = await _store_entry(stores, importers, entry)
                except CouncilError as error:
                    on_fault(f"{_display_name(entry)}: {error}")
                    continue
                new[_noun(entry)] += is_new
                known_count += not is_new
                if is_new and isinstance(entry, ExportedRound) and entry.round_.forgotten:
                    forgotten.append(entry.round_.id)
            await _finish(stores.store, importers, forgotten)
        typer.echo(f"{_describe(new, kinds)} imported, {known_count} already here.")


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


async def _write(lines: ExportLines, to: Path | None, kinds: Sequence[ExportKind]) -> None:
    if to is None:
        async for _, line in lines:
            typer.echo(line, nl=False)
        return
    written: EntryCounts = Counter()
    with atomic_write(to) as file:
        async for noun, line in lines:
            file.write(line)
            written[noun] += 1
    typer.echo(f"{_describe(written, kinds)} written to {to}.")


def _describe(counts: EntryCounts, kinds: Sequence[ExportKind]) -> str:
    """Return a phrase such as "2 rounds and 1 schedule"; rounds are always in it, and first."""
    others = [kind.noun for kind in kinds if counts[kind.noun]]
    nouns = ((counts[noun], *noun.partition(" of ")) for noun in (ROUND, *others))
    return join_words(f"{count_noun(count, noun)}{of}{tail}" for count, noun, of, tail in nouns)


def _load_exporters(stores: Stores) -> list[Exporter]:
    hooks = stores.plugins.load_duties(lambda plugin: plugin.on_export)
    return [new_exporter(stores) for new_exporter in hooks]


def _find_format(stores: Stores, name: str) -> Exporter:
    """Return what exports rounds in a format; exit with code 2 if nothing does."""
    known = {one: exporter for exporter in _load_exporters(stores) for one in exporter.formats}
    if not known:
        fail(f"No plug-in has the format {name!r}. Leave out --as.", MISUSED)
    if name not in known:
        fail(f"--as must be {' or '.join(known)}, not {name!r}.", MISUSED)
    return known[name]


async def _all_lines(stores: Stores, since: datetime | None, on_fault: OnFault) -> ExportLines:
    # One round at a time is in memory.
    exporters = _load_exporters(stores)
    for items in (_own_items(stores, since), *(one.list_items(since) for one in exporters)):
        async for line in _item_lines(items, on_fault):
            yield line
    for round_id in await _ids_since(stores, since):
        try:
            async for line in _round_lines(stores, round_id):
                yield line
        except StoreError as error:
            on_fault(f"Left out: {error}")
    for exporter in exporters:
        async for line in _item_lines(exporter.list_items_of_rounds(since), on_fault):
            yield line


async def _item_lines(items: AsyncIterator[ExportedItem], on_fault: OnFault) -> ExportLines:
    async for item in items:
        try:
            yield item.kind.noun, dump_item(item).encode() + b"\n"
        except StoreError as error:
            on_fault(f"Left out: {error}")


async def _own_items(stores: Stores, since: datetime | None) -> AsyncIterator[ExportedItem]:
    async for setting in stores.archive.list_settings(_settings(stores.plugins)):
        if public := _public_setting(setting):
            yield ExportedItem(SETTING, public)
    async for spending in stores.archive.list_spending(since):
        yield ExportedItem(SPENDING, spending)


async def _ids_since(stores: Stores, since: datetime | None) -> Sequence[str]:
    return await stores.store.ids(wanted=RoundQuery(since=since))


async def _format_lines(
    exporter: Exporter, name: str, ids: Iterable[str], on_fault: OnFault
) -> ExportLines:
    for round_id in ids:
        try:
            lines = await exporter.dump_round(name, round_id)
        except StoreError as error:
            on_fault(f"Left out: {error}")
            continue
        except PanelError as error:  # another program's method, or a later version of it
            on_fault(f"Left out: round {round_id}. {error}")
            continue
        if lines:
            yield ROUND, lines.encode()


async def _round_lines(stores: Stores, round_id: str) -> ExportLines:
    round_, store = await stores.store.load(round_id), stores.store
    line = dump_round(
        round_,
        ratings=await store.ratings(round_id),
        votes=await store.votes(round_id),
        sent=await stores.archive.list_messages(round_id),
        seal=await store.seal(round_id),
    )
    yield ROUND, line.encode() + b"\n"


def _public_setting(setting: StoredSetting) -> StoredSetting | None:
    """Return a setting without secrets; None if it is not one that this program can read."""
    try:
        if setting.store == KEY_KIND:
            return replace(setting, text=without_secret(setting.name, setting.text))
        if setting.store == SETTINGS:
            parse_changes(setting.text)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return setting


# --- Import


def export_kinds(plugins: Plugins) -> list[ExportKind]:
    """Return the kinds of items that plug-ins can import, also those that are disabled."""
    others = [kind for importer in _importer_types(plugins) for kind in importer.kinds]
    return [SETTING, SPENDING, *others]


def _importer_types(plugins: Plugins) -> list[type[Importer]]:
    return plugins.load_duties(lambda plugin: plugin.on_import)


def _settings(plugins: Plugins) -> set[str]:
    """Return the kinds of texts in the key-value store that are exported and imported."""
    others = [kind for importer in _importer_types(plugins) for kind in importer.settings]
    return {SETTINGS, PICKED_PANEL, KEY_KIND, *others}


def read_export(
    path: Path, kinds: Sequence[ExportKind], on_fault: OnFault, registry: Registry
) -> Iterator[Entry]:
    """Yield the entries of an export; `on_fault` gets each line that cannot be read.

    Its rounds are of the methods of this registry. At the end, name the plug-ins that the lines of
    other kinds need. Exit with code 2 if the file cannot be read.
    """
    missing: Counter[str] = Counter()
    try:
        with path.open("rb") as file:
            for number, line in enumerate(_read_lines(file), start=1):
                if line.strip():
                    try:
                        yield parse_item(line, kinds, registry)
                    except MissingPluginError as error:
                        missing[error.plugin] += 1
                    except StoreError as error:
                        why = str(error).rstrip(".")
                        on_fault(f"{path.name}, line {number}: {why}.")
    except OSError as error:
        fail(unreadable(path, error), MISUSED)
    for plugin, count in missing.items():
        what = "1 line was" if count == 1 else f"{count:,} lines were"
        typer.echo(f"{what} left out. Install the plug-in {plugin} to read them.", err=True)


def _read_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; of a line that is too long, one byte more than is allowed."""
    while line := file.readline(MAX_LINE_BYTES + 1):
        end = line
        while len(end) > MAX_LINE_BYTES and not end.endswith(b"\n"):
            end = file.readline(MAX_LINE_BYTES + 1)
        yield line


def _display_name(entry: Entry) -> str:
    return f"Round {entry.round_.id!r}" if isinstance(entry, ExportedRound) else str(entry)


def _noun(entry: Entry) -> str:
    return ROUND if isinstance(entry, ExportedRound) else entry.kind.noun


def _load_importers(stores: Stores) -> list[Importer]:
    hooks = stores.plugins.load_duties(lambda plugin: plugin.on_import)
    return [new_importer(stores) for new_importer in hooks]


async def _store_entry(stores: Stores, importers: Sequence[Importer], entry: Entry) -> bool:
    """Store an entry; return False if it was there already."""
    if isinstance(entry, ExportedRound):
        return await _store_round(stores, entry)
    if isinstance(entry.value, StoredSetting):
        setting = _public_setting(entry.value)
        if setting is None or setting.store not in _settings(stores.plugins):
            raise StoreError("its value is not one that this program stores.")
        return await stores.archive.save(setting, now())
    if isinstance(entry.value, DaySpending):
        return await stores.archive.save(entry.value, now())
    importer = next(one for one in importers if entry.kind in one.kinds)
    return await importer.store(entry)


async def _finish(store: Store, importers: Sequence[Importer], forgotten: Sequence[str]) -> None:
    for start in range(0, len(forgotten), ROUNDS_AT_ONCE):
        ids = forgotten[start : start + ROUNDS_AT_ONCE]
        rounds = [await store.load(round_id) for round_id in ids]
        for importer in importers:
            await importer.finish(rounds)


async def _store_round(stores: Stores, record: ExportedRound) -> bool:
    store = stores.store
    # A round that joins the chain here must be the one that closed there.
    if changed := find_changes(record.round_, record.seal) if record.seal else ():
        raise StoreError(
            f"it was changed after it closed ({join_words(changed)}), so it was not imported."
        )
    is_new = await store.import_round(record.round_, record.seal)
    if is_new:
        # It was delivered where it was asked, if that place can be reached from here at all.
        await store.deliver(record.round_.id, delivered=True)
        await stores.archive.save_messages(record.round_.id, record.sent)
    at = now()  # a date in the future would outlive everything that is said here later
    for feedback in record.ratings:
        with suppress(ForgottenError):  # forgotten here since it was exported
            await store.rate(replace(feedback, at=min(feedback.at, at)))
    for vote in record.votes:
        await store.vote(replace(vote, at=min(vote.at, at)), imported=True)
    return is_new


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
