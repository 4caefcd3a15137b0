"""How quick a leaderboard is over very many stored rounds: read, counted, and as a command.

The rounds are synthetic: five members who answer, and rank each other by chance.
"""

import argparse
import asyncio
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from council.bakeoffs.leaderboard import build_leaderboard
from council.bakeoffs.record_arrays import pack_record, record_columns
from council.bakeoffs.records import (
    AuthorRecord,
    CouncilRecord,
    JudgeRecord,
    Margin,
    PackedRecord,
    Record,
)
from council.panel import Panel
from council.rounds import Closing, Question, Round
from storage.bakeoffs.records import SqlRecords
from storage.engine import open_engine
from storage.migrate import upgrade
from storage.row_mapping import round_row
from storage.tables import RoundRow
from tests.bot.homes import PROGRAM, Home, scripted_config
from tests.builders import a_panel

MEMBERS = 5
PATTERNS = 500  # rounds that differ in their numbers; the others repeat them
BATCH = 5000
QUESTIONS = 36  # of each bake-off
START = datetime(2025, 1, 1, tzinfo=UTC)
COLUMNS = ("rounds", "missing", "read", "columns", "board", "in all", "command", "MB")


@dataclass(frozen=True, slots=True)
class Row:
    """How long each step took over so many rounds, in seconds, the median of some attempts."""

    rounds: int
    missing: float
    read: float
    columns: float
    board: float
    command: float | None
    megabytes: float

    def __str__(self) -> str:
        inside = (self.missing, self.read, self.columns, self.board)
        times = [f"{seconds:>10.3f}" for seconds in (*inside, sum(inside))]
        command = "-" if self.command is None else f"{self.command:.3f}"
        return f"{self.rounds:>10}{''.join(times)}{command:>10}{self.megabytes:>10.0f}"


def synthetic(panel: Panel, chance: random.Random) -> Record:
    """Return the numbers of a plausible round."""
    members = [seat.key for seat in panel.members]
    rivals = len(members) - 1
    # As ballots give them: each of the others puts a member in one of so many places.
    shares = [
        fmean(chance.randrange(rivals) for _ in range(rivals)) / (rivals - 1) for _ in members
    ]
    authored = tuple(
        AuthorRecord(
            member,
            share=share,
            place=1 + sum(other > share for other in shares),
            correct=chance.random() < share,
            words=chance.randint(20, 400),
            tokens_out=chance.randint(30, 600),
            cost_usd=chance.random() / 100,
            seconds=1 + 20 * chance.random(),
        )
        for member, share in zip(members, shares, strict=True)
    )
    judged = tuple(
        JudgeRecord(
            member,
            valid=True,
            tau_b=fmean(chance.choice((-1, -1 / 3, 1 / 3, 1)) for _ in range(rivals)),
            first_slot=chance.randrange(rivals) / (rivals - 1),
            cost_usd=chance.random() / 100,
        )
        for member in members
    )
    margins = tuple(
        Margin(first, second, _margin(chance, rivals - 1), rivals - 1, chance.randrange(4) / 3)
        for first, second in combinations(members, 2)
    )
    whole = CouncilRecord(members[0], council_correct=True, cost_usd=0.04, seconds=31.0)
    return Record("", START, panel.name, "", authored, judged, margins, whole)


def _margin(chance: random.Random, judges: int) -> float:
    return fmean(chance.choice((-1, -2 / 3, -1 / 3, 1 / 3, 2 / 3, 1)) for _ in range(judges))


def batches(rounds: int) -> Iterator[tuple[list[dict[str, Any]], list[PackedRecord]]]:
    """Yield closed rounds and their numbers in batches of some thousands."""
    panel, chance = a_panel(MEMBERS), random.Random(7)
    alike = round_row(Round("", Question("Why?"), panel, "", START).with_(Closing(31.0)))
    common = alike.model_dump()
    patterns = [pack_record(synthetic(panel, chance)) for _ in range(PATTERNS)]
    for first in range(0, rounds, BATCH):
        rows, records = [], []
        for nth in range(first, min(first + BATCH, rounds)):
            round_id, at = f"{nth:010x}", START + timedelta(minutes=nth)
            rows.append(common | {"id": round_id, "seed": round_id, "asked_at": at})
            own = patterns[nth % PATTERNS]._replace(round_id=round_id, asked_at=at, suite="sql")
            run, number = divmod(nth, QUESTIONS)
            records.append(own._replace(bakeoff=f"bo:{run}", number=number + 1))
        yield rows, records


async def fill(engine: AsyncEngine, rounds: int) -> None:
    """Store many rounds and their numbers in an empty database."""
    await upgrade(engine)
    records = SqlRecords(engine)
    for rows, numbers in batches(rounds):
        async with engine.begin() as connection:
            await connection.execute(insert(RoundRow), rows)
        await records.save(numbers)


async def inside(engine: AsyncEngine) -> tuple[float, float, float, float]:
    """Time the steps of a board in one process: missing, read, columns, board."""
    records = SqlRecords(engine)
    at = [time.perf_counter()]
    if await records.list_missing(1):
        raise RuntimeError("some rounds have no record")
    at.append(time.perf_counter())
    rows = await records.list_recent()
    at.append(time.perf_counter())
    held = record_columns(rows)
    at.append(time.perf_counter())
    build_leaderboard(held)
    at.append(time.perf_counter())
    missing, read, counted, board = (after - before for before, after in pairwise(at))
    return missing, read, counted, board


def command(home: Home) -> float:
    """Time `council leaderboard --json` as a process, from its start to its end."""
    started = time.perf_counter()
    ran = home.council("leaderboard", "--json", fresh=True)
    seconds = time.perf_counter() - started
    if ran.code or len(json.loads(ran.out)["rows"]) != MEMBERS:
        raise RuntimeError(f"{' '.join(PROGRAM)} leaderboard: {ran.err or ran.out}")
    return seconds


async def measured(rounds: int, attempts: int) -> Row:
    with TemporaryDirectory(prefix="council-bench-") as folder:
        home = Home(Path(folder)).with_config(scripted_config(MEMBERS))
        home.data.mkdir()
        engine = open_engine(f"sqlite+aiosqlite:///{home.database}")
        await fill(engine, rounds)
        steps = [await inside(engine) for _ in range(attempts)]
        await engine.dispose()
        missing, read, counted, board = (median(step) for step in zip(*steps, strict=True))
        whole = median(command(home) for _ in range(attempts))
        megabytes = home.database.stat().st_size / 1e6
    return Row(rounds, missing, read, counted, board, whole, megabytes)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.leaderboard", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="stored rounds"
    )
    parser.add_argument("--attempts", type=int, default=3, help="of which the median counts")
    wanted = parser.parse_args()

    print(f"{MEMBERS} members; seconds, the median of {wanted.attempts}; aim: command under 2 s\n")
    print("".join(f"{name:>10}" for name in COLUMNS))
    for rounds in wanted.rounds:
        print(asyncio.run(measured(rounds, wanted.attempts)))


if __name__ == "__main__":
    main()
