"""The numbers that boards are made of, kept of every closed round."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from typing import Protocol

import structlog

from council.bakeoffs.bakeoff import Bakeoff
from council.bakeoffs.packing import Packed, packed
from council.bakeoffs.ports import Bench
from council.bakeoffs.recording import record_of
from council.errors import BakeoffError, CouncilError, StoreError
from council.ports import Store
from council.rounds import Round, in_panel_order

BATCH = 50  # rounds held in memory at once


class Parts(Protocol):
    """Where rounds are, and where their numbers go: a desk has both."""

    @property
    def store(self) -> Store:
        """Where rounds are kept."""
        ...

    @property
    def bench(self) -> Bench:
        """Where their numbers are kept."""
        ...


async def records_up_to_date(parts: Parts, at_most: int | None = None) -> None:
    """Keep the numbers of closed rounds that have none, of so many at most, the oldest first.

    A round that cannot be read is left out, named in the log, and stops no other.
    """
    left_out: set[str] = set()
    made = 0
    while at_most is None or made < at_most:
        batch = BATCH if at_most is None else min(BATCH, at_most - made)
        missing = await parts.bench.records.missing(batch + len(left_out))
        wanted = [round_id for round_id in missing if round_id not in left_out]
        if not wanted:
            return
        rounds = [round_ for round_id in wanted if (round_ := await _readable(parts, round_id))]
        records = await _records(parts, rounds)
        await parts.bench.records.keep(records)
        made += len(wanted)
        left_out |= {*wanted} - {record.round_id for record in records}


async def keep_counting(parts: Parts, closed: asyncio.Queue[Round]) -> None:
    """Keep the numbers of rounds that closed before, then of each that closes; until cancelled."""
    await _tried(records_up_to_date(parts))
    while True:
        await _tried(_keep_record(parts, await closed.get()))


async def _keep_record(parts: Parts, round_: Round) -> None:
    await parts.bench.records.keep(await _records(parts, [in_panel_order(round_)]))


async def _tried(keeping: Awaitable[None]) -> None:
    """Wait for numbers to be kept; where they cannot be now, the next board makes up for it."""
    try:
        await keeping
    except CouncilError as error:
        structlog.get_logger().error("records_not_kept", why=str(error))


async def _readable(parts: Parts, round_id: str) -> Round | None:
    try:
        return await parts.store.load(round_id)
    except CouncilError as error:
        _left_out(round_id, error)
        return None


async def _records(parts: Parts, rounds: Iterable[Round]) -> list[Packed]:
    rounds = [*rounds]
    bakeoffs = await _bakeoffs(parts, {round_.bakeoff for round_ in rounds} - {""})
    # Counting takes a while, and progress is told meanwhile.
    return await asyncio.to_thread(_counted, rounds, bakeoffs)


async def _bakeoffs(parts: Parts, ids: Iterable[str]) -> Mapping[str, Bakeoff]:
    """Give those bake-offs that are there: a round whose bake-off is gone counts by itself."""
    found: dict[str, Bakeoff] = {}
    for bakeoff_id in ids:
        try:
            found[bakeoff_id] = await parts.bench.bakeoffs.load(bakeoff_id)
        except (BakeoffError, StoreError) as error:
            structlog.get_logger().warning("bakeoff_unreadable", id=bakeoff_id, why=str(error))
    return found


def _counted(rounds: Iterable[Round], bakeoffs: Mapping[str, Bakeoff]) -> list[Packed]:
    records: list[Packed] = []
    for round_ in rounds:
        try:
            records.append(packed(record_of(round_, bakeoffs.get(round_.bakeoff))))
        # Whatever a stored round holds, the others are counted.
        except Exception as error:  # noqa: BLE001
            _left_out(round_.id, error)
    return records


def _left_out(round_id: str, error: Exception) -> None:
    structlog.get_logger().error("round_not_counted", round_id=round_id, why=str(error))
