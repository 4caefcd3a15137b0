"""How quick a report of bias is over very many stored rounds: looked for, read, measured.

The rounds are synthetic: judges with planted tastes, every fifth round audited.
"""

import argparse
import asyncio
import time
from dataclasses import replace
from itertools import cycle, islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.bakeoffs.records import garbage_collection_paused
from council.bakeoffs.bias.measurement import measure_bias
from council.bakeoffs.bias.vote_arrays import Block, pack_votes, vote_blocks
from council.bakeoffs.records import PackedRecord
from storage.bakeoffs.records import sql_votes
from storage.engine import open_engine
from storage.migrate import upgrade
from storage.tables import RoundRow
from tests.bench.leaderboard import batches
from tests.council.bakeoffs.bias.simulated_blocks import Planted, as_votes, simulated

PATTERNS = 500  # rounds that differ in their votes; the others repeat them
COLUMNS = ("members", "rounds", "missing", "read", "arrays", "measured", "in all", "MB")


def patterns(members: int, like: PackedRecord) -> list[PackedRecord]:
    block = simulated(PATTERNS, Planted(own=1, first=1, length=0.5), 1, members)
    return [pack_votes(votes, like) for votes in as_votes(_audited_now_and_then(block))]


def _audited_now_and_then(block: Block) -> Block:
    return replace(block, audit=np.where(np.arange(PATTERNS) % 5, 0, block.audit).astype(np.uint8))


async def fill(engine: AsyncEngine, rounds: int, members: int) -> None:
    """Store many rounds and their votes in an empty database."""
    await upgrade(engine)
    votes, kept = sql_votes(engine), list[PackedRecord]()
    for rows, numbers in batches(rounds):
        kept = kept or patterns(members, numbers[0])
        async with engine.begin() as connection:
            await connection.execute(insert(RoundRow), rows)
        await votes.save(
            [
                number._replace(shape=own.shape, numbers=own.numbers, version=own.version)
                for number, own in zip(numbers, islice(cycle(kept), len(numbers)), strict=True)
            ]
        )


async def timed(engine: AsyncEngine) -> tuple[float, ...]:
    """Return how long each step took, in seconds."""
    votes, at = sql_votes(engine), [time.perf_counter()]
    await votes.list_missing(1)
    at.append(time.perf_counter())
    with garbage_collection_paused():
        rows = await votes.list_recent()
        at.append(time.perf_counter())
        arrays = vote_blocks(rows)
        at.append(time.perf_counter())
        report = measure_bias(arrays)
    at.append(time.perf_counter())
    if report.rounds != len(rows):
        raise RuntimeError("some rounds were not measured")
    return tuple(after - before for before, after in pairwise(at))


async def row(rounds: int, members: int) -> str:
    with TemporaryDirectory(prefix="council-bench-") as folder:
        database = Path(folder) / "council.db"
        engine = open_engine(f"sqlite+aiosqlite:///{database}")
        await fill(engine, rounds, members)
        steps = await timed(engine)
        await engine.dispose()
        megabytes = database.stat().st_size / 1e6
    times = "".join(f"{seconds:>10.3f}" for seconds in (*steps, sum(steps)))
    return f"{members:>10}{rounds:>10}{times}{megabytes:>10.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bias_report", description=__doc__)
    parser.add_argument("--rounds", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--members", type=int, nargs="+", default=[5])
    wanted = parser.parse_args()
    print("".join(f"{name:>10}" for name in COLUMNS))
    for members in wanted.members:
        for rounds in wanted.rounds:
            print(asyncio.run(row(rounds, members)))


if __name__ == "__main__":
    main()
