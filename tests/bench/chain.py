"""What the chain costs: to walk very many links, to verify rounds, and when a round closes.

The links are made as closing makes them, for rounds that hold nothing but their question; verified
and closed are whole rounds of five members, with texts as long as they often are. Time of the
processor is told beside the time that passed, for a machine that does other things meanwhile.
"""

import argparse
import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.cli.verify import walk_chain
from council.answers import Prompt
from council.integrity.hash_chain import Link, next_link
from council.integrity.seal import compute_digests, find_changes
from council.integrity.verification import verify
from council.rounds import Closing, Question, Round
from storage.engine import open_engine
from storage.hash_chain import SqlHashChain
from storage.migrate import upgrade
from storage.rounds import SqlRoundStore
from storage.row_mapping import round_row
from storage.tables import LinkRow, RoundRow
from tests.bot.homes import Home, scripted_config
from tests.builders import a_panel, vote_in_label_order, with_answers, with_ballots

MEMBERS = 5
BATCH = 5000
WORDS = "An answer of the length that models write when nobody asks them to be brief. " * 25
START = datetime(2025, 1, 1, tzinfo=UTC)


def a_round(number: int) -> Round:
    """Return a ranked round with texts of about two thousand characters, not closed yet."""
    panel = a_panel(MEMBERS)
    own = Round(f"{number:010x}", Question("Why?", "U1"), panel, f"{number}", START)
    held = with_ballots(
        with_answers(own, {seat.key: WORDS for seat in panel.members}), vote_in_label_order
    )
    shown = Prompt("Rank these answers.", WORDS * (MEMBERS - 1))
    ballots = tuple(
        replace(ballot, paper=ballot.paper and replace(ballot.paper, prompt=shown))
        for ballot in held.ballots
    )
    return replace(held, ballots=ballots)


def batches(links: int) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """Yield closed rounds and their links in batches of some thousands."""
    bare = Round("", Question("Why?"), a_panel(MEMBERS), "", START).with_(Closing(31.0))
    common, notes = round_row(bare).model_dump(), compute_digests(bare, "5a17" * 8)
    head: Link | None = None
    for first in range(0, links, BATCH):
        rounds, rows = [], []
        for nth in range(first, min(first + BATCH, links)):
            round_id = f"{nth:010x}"
            rounds.append(common | {"id": round_id, "asked_at": START + timedelta(minutes=nth)})
            head = next_link(head, "", round_id, notes.digest)
            rows.append(asdict(head) | {"parts": [[*pair] for pair in notes.parts]})
        yield rounds, rows


async def filled(engine: AsyncEngine, links: int) -> None:
    """Store many closed rounds and their links in an empty database."""
    await upgrade(engine)
    for rounds, rows in batches(links):
        async with engine.begin() as connection:
            await connection.execute(insert(RoundRow), rounds)
            await connection.execute(insert(LinkRow), rows)


class Times:
    """What acts took, each by its name: seconds that passed, and seconds of the processor."""

    def __init__(self) -> None:
        self._took: dict[str, list[tuple[float, float]]] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Add what happens meanwhile to an act."""
        before = time.perf_counter(), time.process_time()
        yield
        after = time.perf_counter(), time.process_time()
        spent = (after[0] - before[0], after[1] - before[1])
        self._took.setdefault(name, []).append(spent)

    def medians(self) -> dict[str, tuple[float, float]]:
        """Return the median of each."""
        return {
            name: (median(passed for passed, _ in took), median(cpu for _, cpu in took))
            for name, took in self._took.items()
        }


async def walking(folder: Path, links: int) -> str:
    """Time the walk inside one process, and as a command from its start to its end."""
    home = Home(folder).with_config(scripted_config(MEMBERS))
    home.data.mkdir()
    engine = open_engine(f"sqlite+aiosqlite:///{home.database}")
    await filled(engine, links)
    chain, times = SqlHashChain(engine), Times()
    with times.of("walk"):
        (head,) = await chain.heads()
        walk = await walk_chain(chain, head, frozenset())
    await engine.dispose()
    with times.of("command"):
        ran = home.council("verify", "--head", fresh=True)
    if walk.findings or walk.length != links or ran.code:
        raise RuntimeError(f"the chain is not whole: {walk.findings} {ran.out} {ran.err}")
    took, megabytes = times.medians(), home.database.stat().st_size / 1e6
    inside, cpu = took["walk"]
    return f"{links:>10}{inside:>12.3f}{cpu:>12.3f}{took['command'][0]:>12.3f}{megabytes:>10.0f}"


async def rounds_on(engine: AsyncEngine, count: int) -> Times:
    """Time each act on whole rounds."""
    await upgrade(engine)
    store, times = SqlRoundStore(engine), Times()
    for number in range(count):
        round_ = a_round(number)
        await store.open(round_)
        with times.of("a transaction that changes one column"):
            await store.pause(round_.id, paused=False)
        with times.of("a round closed, its link included"):
            await store.save(round_.id, Closing(31.0))
        with times.of("a round and its seal read"):
            held, seal = await store.load(round_.id), await store.seal(round_.id)
        with times.of("held against its seal"):
            is_changed = seal is None or find_changes(held, seal)
        with times.of("recomputed"):
            differs = verify(held)
        if is_changed or differs:
            raise RuntimeError("a round is not as it closed")
    return times


async def closing(folder: Path, count: int) -> None:
    """Print what each act on a whole round takes."""
    engine = open_engine(f"sqlite+aiosqlite:///{folder / 'council.db'}")
    for name, (passed, cpu) in (await rounds_on(engine, count)).medians().items():
        print(f"{name:<42}{1000 * passed:>10.2f}{1000 * cpu:>10.2f}")
    await engine.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.chain", description=__doc__)
    parser.add_argument("--links", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=200, help="whole rounds, closed and verified")
    wanted = parser.parse_args()

    print(f"{'links':>10}{'walked, s':>12}{'CPU, s':>12}{'command, s':>12}{'MB':>10}")
    for links in wanted.links:
        with TemporaryDirectory(prefix="council-bench-") as folder:
            print(asyncio.run(walking(Path(folder), links)))
    print(f"\nWhole rounds of {MEMBERS} members, the median of {wanted.rounds}, in milliseconds\n")
    print(f"{'':<42}{'passed':>10}{'CPU':>10}")
    with TemporaryDirectory(prefix="council-bench-") as folder:
        asyncio.run(closing(Path(folder), wanted.rounds))


if __name__ == "__main__":
    main()
