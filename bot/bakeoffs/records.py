"""Records: the numbers of every closed round that leaderboards and bias reports count."""

import asyncio
import gc
import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from math import isnan
from pathlib import Path
from typing import Any

from bot.bakeoffs.parts import bakeoff_stores
from bot.coordination.tasks import TryLock
from bot.plugins import RecordSources
from council.bakeoffs.bias.vote_arrays import pack_votes
from council.bakeoffs.bias.votes import build_votes
from council.bakeoffs.models import Bakeoff
from council.bakeoffs.ports import RecordQuery, RecordStore
from council.bakeoffs.record_arrays import count_repeats, pack_record, record_columns
from council.bakeoffs.records import FIRST_VERSION, PackedRecord, build_record
from council.errors import BakeoffError, CouncilError, StoreError
from council.methods import method_of
from council.ports import RoundQuery
from council.round_rules import CONSISTENCY
from council.rounds import Round, sort_by_panel
from council.tally.consistency import MIN_REPEATS, consistency_weights

Report = Callable[[str], None]

MAX_PAST_ROUNDS = 5_000  # the newest of a workspace, which tell of its judges and authors
WEIGHT_DIGITS = 4  # of a stored weight
BATCH = 50  # rounds in memory at once
REDO = "save it again with `council bakeoff run SUITE --save FILE`."


# The numbers of one round: for leaderboards, and for bias reports.
RoundNumbers = tuple[PackedRecord, PackedRecord]


def log_uncounted(why: str) -> None:
    """Log why a round is not counted."""
    # structlog takes a tenth of a second to import, and a command rarely has to log.
    import structlog

    structlog.get_logger().error("not_counted", why=why)


async def update_records(sources: RecordSources, tell: Report = log_uncounted) -> None:
    """Store the missing records of closed rounds, oldest first.

    A round that cannot be read is left out; `tell` gets a line about it.
    """
    await _update(sources, bakeoff_stores(sources).records, tell)


async def update_votes(sources: RecordSources, tell: Report = log_uncounted) -> None:
    """Store the missing votes of closed rounds, likewise.

    Old rounds may have records but no votes; leaderboards do not wait for these.
    """
    await _update(sources, bakeoff_stores(sources).votes, tell)


async def _update(sources: RecordSources, record_store: RecordStore, tell: Report) -> None:
    left_out: set[str] = set()
    while True:
        missing = await record_store.list_missing(BATCH + len(left_out))
        wanted = [round_id for round_id in missing if round_id not in left_out]
        if not wanted:
            return
        rounds = [
            round_ for round_id in wanted if (round_ := await _load_round(sources, round_id, tell))
        ]
        numbers = await _count(sources, rounds, tell)
        await _save(sources, numbers)
        left_out |= {*wanted} - {record.round_id for record, _ in numbers}


async def _save(sources: RecordSources, numbers: Sequence[RoundNumbers]) -> None:
    stores = bakeoff_stores(sources)

    async def save() -> None:
        await stores.records.save([record for record, _ in numbers])
        await stores.votes.save([votes for _, votes in numbers])

    await sources.store.together(save)


async def count_missing_rounds(sources: RecordSources, alone: TryLock) -> None:
    """Store missing numbers, in the process that acquires the lock `alone("counting")`."""
    with _errors_logged():
        async with alone("counting") as is_ours:
            if is_ours:
                with _errors_logged():
                    await update_records(sources)
                await update_votes(sources)


async def count_closed_round(sources: RecordSources, round_: Round) -> None:
    """Store the numbers of a round that has just closed, so that the next ones can use them."""
    with _errors_logged():
        numbers = await _count(sources, [sort_by_panel(round_)], log_uncounted)
        await _save(sources, numbers)


async def load_closed_rounds(sources: RecordSources, bakeoff: Bakeoff) -> tuple[Round, ...]:
    """Return the closed rounds of a bake-off, in the order of its suite."""
    lines = await sources.store.list_summaries(wanted=RoundQuery(bakeoff=bakeoff.id))
    closed = {line.id for line in lines if line.seconds is not None}
    ids = map(bakeoff.round_id, range(1, len(bakeoff.suite.questions) + 1))
    return tuple([await sources.store.load(id_) for id_ in ids if id_ in closed])


async def list_past_records(sources: RecordSources, round_: Round) -> Sequence[PackedRecord]:
    """Return the records of the newest rounds of a round's workspace, before it."""
    query = RecordQuery(
        scope=round_.question.place.scope, before=round_.asked_at, newest=MAX_PAST_ROUNDS
    )
    return await bakeoff_stores(sources).records.list_recent(query)


async def judges_consistency(sources: RecordSources, round_: Round) -> Mapping[str, str]:
    """Return the weights of a new round's judges, as an entry of its versions, if all are known.

    They serve once every judge has been asked twenty times again.
    """
    # Which methods count by weights is theirs to say; a round keeps the weights under any.
    judges = [seat.key for seat in method_of(round_).judges(round_.panel)]
    rows = await list_past_records(sources, round_)
    repeats = await asyncio.to_thread(lambda: count_repeats(record_columns(rows)))
    known = {judge: repeats[judge] for judge in judges if judge in repeats}
    if not judges or sum(one.ballots >= MIN_REPEATS for one in known.values()) < len(judges):
        return {}
    weights = consistency_weights(known).weights
    digits = {judge: round(weight, WEIGHT_DIGITS) for judge, weight in weights.items()}
    return {CONSISTENCY: json.dumps(digits)}


@contextmanager
def _errors_logged() -> Iterator[None]:
    """Log an error in the storing of numbers, because the next leaderboard repeats it."""
    try:
        yield
    except CouncilError as error:
        log_uncounted(str(error))


async def _load_round(sources: RecordSources, round_id: str, tell: Report) -> Round | None:
    try:
        return await sources.store.load(round_id)
    except CouncilError as error:
        tell(_uncounted(round_id, error))
        return None


async def _count(
    sources: RecordSources, rounds: Iterable[Round], tell: Report
) -> list[RoundNumbers]:
    """Return the numbers of rounds, except those whose bake-off cannot be loaded now."""
    bakeoffs: dict[str, Bakeoff] = {}
    loaded: list[Round] = []
    for round_ in rounds:
        id_ = round_.bakeoff
        try:
            if id_ and id_ not in bakeoffs:
                bakeoffs[id_] = await bakeoff_stores(sources).bakeoffs.load(id_)
        except BakeoffError:
            pass  # it was deleted, so its rounds count on their own
        except StoreError as error:
            tell(_uncounted(round_.id, error))
            continue
        loaded.append(round_)
    # Counting takes a while and must not block the event loop.
    return await asyncio.to_thread(_count_sync, loaded, bakeoffs, tell)


def _count_sync(
    rounds: Iterable[Round], bakeoffs: Mapping[str, Bakeoff], tell: Report
) -> list[RoundNumbers]:
    numbers: list[RoundNumbers] = []
    for round_ in rounds:
        try:
            record = pack_record(build_record(round_, bakeoffs.get(round_.bakeoff)))
            numbers.append((record, pack_votes(build_votes(round_), record)))
        # A broken round must not keep the others from being counted.
        except Exception as error:  # noqa: BLE001
            tell(_uncounted(round_.id, error))
    return numbers


def _uncounted(round_id: str, error: Exception) -> str:
    return f"Round {round_id!r} is not counted on any leaderboard: {error}"


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Pause garbage collection in the block: scanning very many records takes most of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


_TEXTS = ("round_id", "panel", "scope", "bakeoff", "suite", "suite_version", "category", "shape")


class BaselineError(CouncilError):
    """The file cannot be used as a baseline."""


def record_as_json(record: PackedRecord) -> dict[str, Any]:
    """Return a record as a JSON object; unknown numbers are null."""
    unpacked = struct.unpack(f"<{len(record.numbers) // 4}f", record.numbers)
    numbers = [None if isnan(number) else number for number in unpacked]
    texts = {name: getattr(record, name) for name in _TEXTS}
    at = record.asked_at.isoformat()
    own = {"asked_at": at, "number": record.number, "version": record.version}
    return {**texts, **own, "numbers": numbers}


@dataclass(frozen=True, slots=True)
class Baseline:
    """The records of an earlier run and its method; "" if its file is too old to tell."""

    records: tuple[PackedRecord, ...]
    method: str = ""

    @property
    def at(self) -> datetime:
        """When its first question was asked."""
        return min(record.asked_at for record in self.records)


def read_baseline(path: Path) -> Baseline:
    """Read a bake-off's JSON file; raise BaselineError, which says what to do."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BaselineError(f"{path} can't be read ({error.strerror}): {REDO}") from None
    except ValueError:
        raise BaselineError(f"{path} is not valid JSON: {REDO}") from None
    listed = document.get("records") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not listed:
        raise BaselineError(f"{path} has no records of a bake-off: {REDO}")
    try:
        records = tuple(map(_record, listed))
    except (KeyError, TypeError, ValueError, struct.error):
        raise BaselineError(f"{path} has records that can't be read: {REDO}") from None
    if any(record.version < FIRST_VERSION for record in records):
        raise BaselineError(f"{path} was saved by a version that can't be read: {REDO}")
    return Baseline(records, str(document.get("method", "")))


def _record(document: Mapping[str, Any]) -> PackedRecord:
    texts = {name: str(document[name]) for name in _TEXTS}
    given = [float("nan") if number is None else number for number in document["numbers"]]
    return PackedRecord(
        asked_at=datetime.fromisoformat(document["asked_at"]),
        number=int(document["number"]),
        version=int(document["version"]),
        numbers=struct.pack(f"<{len(given)}f", *given),
        **texts,
    )


def check_comparable(before: Baseline, bakeoff: Bakeoff) -> None:
    """Raise BaselineError unless it is of the same version of the suite and the same method."""
    records, method = before.records, bakeoff.panel.terms.method
    versions = {record.suite_version for record in records}
    if versions != {bakeoff.suite.version}:
        raise BaselineError(
            f"The baseline is version {', '.join(sorted(versions)) or 'none'} of suite "
            f"{records[0].suite}, but this bake-off is version {bakeoff.suite.version}. Their "
            f"questions differ, so {REDO}"
        )
    if before.method not in {"", method}:
        raise BaselineError(
            f"The baseline used the method {before.method}, but this bake-off uses {method}. Name "
            f"the same one with --method, or {REDO}"
        )
