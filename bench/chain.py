"""What the chain costs: to walk very many links, to verify rounds, and when a round closes.

The links are made as closing makes them, for rounds that hold nothing but their question; verified
and closed are whole rounds of five members, with texts as long as they often are.
"""

import argparse
import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.cli.chains import walked
from council.calls import Prompt
from council.links import Link, appended
from council.rounds import Closing, Question, Round
from council.sealing import changes, noted
from council.verify import verify
from storage.chain import SqlChain
from storage.database import open_engine
from storage.linking import link_row
from storage.rows import LinkRow, RoundRow
from storage.schema import upgrade
from storage.sql import SqlStore
from storage.writing import round_row
from tests.bot.homes import Home, scripted_panel
from tests.builders import a_panel, answered, in_label_order, ranked

MEMBERS = 5
BATCH = 5000
WORDS = "An answer of the length that models write when nobody asks them to be brief. " * 25
START = datetime(2025, 1, 1, tzinfo=UTC)


def a_round(number: int) -> Round:
    """Give a round that is ranked, with texts of about two thousand signs, and not closed yet."""
    panel = a_panel(MEMBERS)
    own = Round(f"{number:010x}", Question("Why?", "U1"), panel, f"{number}", START)
    held = ranked(answered(own, {seat.key: WORDS for seat in panel.members}), in_label_order)
    shown = Prompt("Rank these answers.", WORDS * (MEMBERS - 1))
    ballots = tuple(
        replace(ballot, paper=ballot.paper and replace(ballot.paper, prompt=shown))
        for ballot in held.ballots
    )
    return replace(held, ballots=ballots)


def batches(links: int) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """Give so many closed rounds and their links, some thousands at a time."""
    bare = Round("", Question("Why?"), a_panel(MEMBERS), "", START).with_(Closing(31.0))
    common, notes = round_row(bare).model_dump(), noted(bare, "5a17" * 8)
    head: Link | None = None
    for first in range(0, links, BATCH):
        rounds, rows = [], []
        for nth in range(first, min(first + BATCH, links)):
            round_id = f"{nth:010x}"
            rounds.append(common | {"id": round_id, "asked_at": START + timedelta(minutes=nth)})
            head = appended(head, "", round_id, notes.digest)
            rows.append(link_row(head, notes.parts).model_dump())
        yield rounds, rows


async def filled(engine: AsyncEngine, links: int) -> None:
    """Keep so many closed rounds and their links in an empty database."""
    await upgrade(engine)
    for rounds, rows in batches(links):
        async with engine.begin() as connection:
            await connection.execute(insert(RoundRow), rounds)
            await connection.execute(insert(LinkRow), rows)


async def walking(folder: Path, links: int) -> str:
    """Time the walk inside one process, and as a command from its start to its end."""
    home = Home(folder).with_config(scripted_panel(MEMBERS))
    home.data.mkdir()
    engine = open_engine(f"sqlite+aiosqlite:///{home.database}")
    await filled(engine, links)
    chain = SqlChain(engine)
    started = time.perf_counter()
    (head,) = await chain.heads()
    walk = await walked(chain, head, frozenset())
    inside = time.perf_counter() - started
    await engine.dispose()
    started = time.perf_counter()
    ran = home.council("verify", "--head")
    command = time.perf_counter() - started
    if walk.findings or walk.length != links or ran.code:
        raise RuntimeError(f"the chain is not whole: {walk.findings} {ran.out} {ran.err}")
    megabytes = home.database.stat().st_size / 1e6
    return f"{links:>10}{inside:>12.3f}{command:>12.3f}{megabytes:>10.0f}"


async def rounds_on(engine: AsyncEngine, count: int) -> dict[str, float]:
    """Give the median of what each act on a whole round took, in milliseconds."""
    await upgrade(engine)
    store, took = SqlStore(engine), dict[str, list[float]]()
    for number in range(count):
        round_ = a_round(number)
        await store.open(round_)
        started = time.perf_counter()
        await store.pause(round_.id, paused=False)
        paused = time.perf_counter()
        await store.save(round_.id, Closing(31.0))
        closed = time.perf_counter()
        held, seal = await store.load(round_.id), await store.seal(round_.id)
        loaded = time.perf_counter()
        if seal is None or changes(held, seal):
            raise RuntimeError("a round is not as it closed")
        checked = time.perf_counter()
        if verify(held):
            raise RuntimeError("a round differs")
        ended = time.perf_counter()
        for name, seconds in {
            "a transaction that changes one column": paused - started,
            "a round closed, its link included": closed - paused,
            "a round and its seal read": loaded - closed,
            "held against its seal": checked - loaded,
            "recomputed": ended - checked,
        }.items():
            took.setdefault(name, []).append(1000 * seconds)
    return {name: median(milliseconds) for name, milliseconds in took.items()}


async def closing(folder: Path, count: int) -> None:
    """Print what each act on a whole round takes."""
    engine = open_engine(f"sqlite+aiosqlite:///{folder / 'council.db'}")
    for name, milliseconds in (await rounds_on(engine, count)).items():
        print(f"{name:<42}{milliseconds:>10.2f} ms")
    await engine.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.chain", description=__doc__)
    parser.add_argument("--links", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=200, help="whole rounds, closed and verified")
    wanted = parser.parse_args()

    print(f"{'links':>10}{'walked, s':>12}{'command, s':>12}{'MB':>10}")
    for links in wanted.links:
        with TemporaryDirectory(prefix="council-bench-") as folder:
            print(asyncio.run(walking(Path(folder), links)))
    print(f"\nWhole rounds of {MEMBERS} members, the median of {wanted.rounds}:\n")
    with TemporaryDirectory(prefix="council-bench-") as folder:
        asyncio.run(closing(Path(folder), wanted.rounds))


if __name__ == "__main__":
    main()
