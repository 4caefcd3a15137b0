"""The numbers that boards and reports are made of, kept of every closed round."""

import asyncio
import gc
import json
from array import array
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from math import isnan
from pathlib import Path
from sys import byteorder
from typing import Any, Protocol

from bot.coordination.tasks import Sole, nobody_else
from council.bakeoffs.models import Bakeoff
from council.bakeoffs.ports import BakeoffStores, RecordStore
from council.bakeoffs.record_arrays import packed
from council.bakeoffs.records import VERSION, PackedRecord, record_of
from council.bias.vote_arrays import packed as packed_votes
from council.bias.votes import votes_of
from council.errors import BakeoffError, CouncilError, StoreError
from council.ports import Store
from council.rounds import Round, in_panel_order

# --- The numbers that boards and reports are made of, kept of every closed round.

Tell = Callable[[str], None]

BATCH = 50  # rounds held in memory at once


class RecordSources(Protocol):
    """Where rounds are, and where their numbers go: a desk has both."""

    @property
    def store(self) -> Store:
        """Where rounds are kept."""
        ...

    @property
    def bakeoff_stores(self) -> BakeoffStores:
        """Where their numbers are kept."""
        ...


@dataclass(frozen=True, slots=True)
class RoundNumbers:
    """What is kept of a round: for boards, and for reports of bias."""

    record: PackedRecord
    votes: PackedRecord


def logged(why: str) -> None:
    """Log why something is in no board."""
    # It takes a tenth of a second to import, and a command has hardly ever anything to log.
    import structlog

    structlog.get_logger().error("not_counted", why=why)


async def records_up_to_date(
    parts: RecordSources, at_most: int | None = None, tell: Tell = logged
) -> None:
    """Keep the numbers of closed rounds that have none, of so many at most, the oldest first.

    A round that cannot be read is left out and stops no other; `tell` hears of it.
    """
    await _up_to_date(parts, parts.bakeoff_stores.records, at_most, tell)


async def votes_up_to_date(parts: RecordSources, tell: Tell = logged) -> None:
    """Keep the numbers of closed rounds of which no votes are kept yet, in the same way.

    Boards do not wait for these: votes came later, and old rounds have records without.
    """
    await _up_to_date(parts, parts.bakeoff_stores.votes, None, tell)


async def _up_to_date(
    parts: RecordSources, kept: RecordStore, at_most: int | None, tell: Tell
) -> None:
    left_out: set[str] = set()
    made = 0
    while at_most is None or made < at_most:
        batch = BATCH if at_most is None else min(BATCH, at_most - made)
        missing = await kept.missing(batch + len(left_out))
        wanted = [round_id for round_id in missing if round_id not in left_out]
        if not wanted:
            return
        rounds = [
            round_ for round_id in wanted if (round_ := await _readable(parts, round_id, tell))
        ]
        numbers = await _numbers(parts, rounds, tell)
        await _keep(parts.bakeoff_stores, numbers)
        made += len(wanted)
        left_out |= {*wanted} - {number.record.round_id for number in numbers}


async def _keep(bench: BakeoffStores, numbers: Sequence[RoundNumbers]) -> None:
    await bench.records.keep([number.record for number in numbers])
    await bench.votes.keep([number.votes for number in numbers])


async def keep_counting(
    parts: RecordSources,
    closed: asyncio.Queue[Round],
    alone: Sole = nobody_else,
) -> None:
    """Keep the numbers of rounds that closed before, then of each that closes; until cancelled.

    Those of before are one process' affair.
    """
    await _tried(_caught_up(parts, alone))
    while True:
        await _tried(_keep_record(parts, await closed.get()))


async def _caught_up(parts: RecordSources, alone: Sole) -> None:
    async with alone("counting") as is_ours:
        if is_ours:
            await _tried(records_up_to_date(parts))
            await _tried(votes_up_to_date(parts))


async def _keep_record(parts: RecordSources, round_: Round) -> None:
    await _keep(parts.bakeoff_stores, await _numbers(parts, [in_panel_order(round_)], logged))


async def _tried(keeping: Awaitable[None]) -> None:
    """Wait for numbers to be kept; where they cannot be now, the next board makes up for it."""
    try:
        await keeping
    except CouncilError as error:
        logged(str(error))


async def _readable(parts: RecordSources, round_id: str, tell: Tell) -> Round | None:
    try:
        return await parts.store.load(round_id)
    except CouncilError as error:
        tell(_left_out(round_id, error))
        return None


async def _numbers(parts: RecordSources, rounds: Iterable[Round], tell: Tell) -> list[RoundNumbers]:
    """Give the numbers of rounds; of those whose bake-off cannot be read now, none."""
    bakeoffs: dict[str, Bakeoff | None] = {"": None}
    told: list[Round] = []
    for round_ in rounds:
        try:
            bakeoffs[round_.bakeoff] = await _bakeoff(parts, round_.bakeoff, bakeoffs)
            told.append(round_)
        except StoreError as error:
            tell(_left_out(round_.id, error))
    # Counting takes a while, and progress is told meanwhile.
    return await asyncio.to_thread(_counted, told, bakeoffs, tell)


async def _bakeoff(
    parts: RecordSources, bakeoff_id: str, known: Mapping[str, Bakeoff | None]
) -> Bakeoff | None:
    """Give a bake-off; None for one that is gone, whose rounds count by themselves."""
    if bakeoff_id in known:
        return known[bakeoff_id]
    try:
        return await parts.bakeoff_stores.bakeoffs.load(bakeoff_id)
    except BakeoffError:
        return None


def _counted(
    rounds: Iterable[Round], bakeoffs: Mapping[str, Bakeoff | None], tell: Tell
) -> list[RoundNumbers]:
    numbers: list[RoundNumbers] = []
    for round_ in rounds:
        try:
            record = packed(record_of(round_, bakeoffs[round_.bakeoff]))
            numbers.append(RoundNumbers(record, packed_votes(votes_of(round_), record)))
        # Whatever a stored round holds, the others are counted.
        except Exception as error:  # noqa: BLE001
            tell(_left_out(round_.id, error))
    return numbers


def _left_out(round_id: str, error: Exception) -> str:
    return f"Round {round_id!r} is in no board: {error}"


# --- Very many records in memory at once, without a search for garbage among them.


@contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage until the block ends: looking over very many records takes longest."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# --- The numbers of a bake-off in a file, so that a later one elsewhere can be compared with them

_TEXTS = ("round_id", "panel", "scope", "bakeoff", "suite", "suite_version", "category", "shape")
ANEW = "make it anew with `council bakeoff run SUITE --save FILE`."


class BaselineError(CouncilError):
    """A file that nothing can be compared with."""


def record_document(record: PackedRecord) -> dict[str, Any]:
    """Give a record as JSON has it; unknown numbers are null."""
    numbers = [None if isnan(number) else number for number in _floats(record.numbers)]
    texts = {name: getattr(record, name) for name in _TEXTS}
    at = record.asked_at.isoformat()
    own = {"asked_at": at, "number": record.number, "version": record.version}
    return {**texts, **own, "numbers": numbers}


def _floats(raw: bytes) -> "array[float]":
    """Give single-precision numbers, little end first, whatever the machine."""
    numbers = array("f")
    numbers.frombytes(raw)
    if byteorder == "big":
        numbers.byteswap()
    return numbers


def read_baseline(path: Path) -> tuple[PackedRecord, ...]:
    """Give the records of a bake-off's document; BaselineError, with what to do, where none are."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BaselineError(f"{path} cannot be read ({error.strerror}): {ANEW}") from None
    except ValueError:
        raise BaselineError(f"{path} holds no JSON: {ANEW}") from None
    listed = document.get("records") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not listed:
        raise BaselineError(f"{path} holds no records of a bake-off: {ANEW}")
    try:
        records = tuple(map(_record, listed))
    except (KeyError, TypeError, ValueError):
        raise BaselineError(f"{path} holds records that cannot be read: {ANEW}") from None
    if any(record.version != VERSION for record in records):
        raise BaselineError(f"{path} was written by another version of the council: {ANEW}")
    return records


def _record(document: Mapping[str, Any]) -> PackedRecord:
    texts = {name: str(document[name]) for name in _TEXTS}
    given = [float("nan") if number is None else number for number in document["numbers"]]
    numbers = array("f", given)
    if byteorder == "big":
        numbers.byteswap()
    return PackedRecord(
        asked_at=datetime.fromisoformat(document["asked_at"]),
        number=int(document["number"]),
        version=int(document["version"]),
        numbers=numbers.tobytes(),
        **texts,
    )


def check_comparable(records: Sequence[PackedRecord], bakeoff: Bakeoff) -> None:
    """Raise BaselineError unless the records are of the same version of the suite."""
    versions = {record.suite_version for record in records}
    if versions != {bakeoff.suite.version}:
        raise BaselineError(
            f"The baseline is of version {', '.join(sorted(versions)) or 'none'} of suite "
            f"{records[0].suite}, and this bake-off of version {bakeoff.suite.version}: their "
            f"questions are not the same, so {ANEW}"
        )
