"""Wall time of a round over its critical path, ours and the rivals', on one scripted model server.

Reads the times from the server's record alone: from the first call in to the last reply out.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from platformdirs import user_cache_path

from tests.bench.ours import QUESTION, our_round, our_warm_program
from tests.bench.rivals import RIVALS, SCRIPT, Rival
from tests.bench.workers import Program, Worker, worker
from tests.wire.models import ModelServer, Request
from tests.wire.models.http import Connection

Rivals = dict[Rival, Path]  # each with the Python that it is installed in

STAGES = 3  # answers, ballots, synthesis: each waits for the one before


class TimedServer(ModelServer):
    """A model server that also remembers when its last reply went out."""

    replied_at = 0.0

    async def _complete(self, request: Request, wire: Connection) -> None:
        await super()._complete(request, wire)
        self.replied_at = asyncio.get_running_loop().time()


@dataclass(frozen=True, slots=True)
class Row:
    """What one council did, round by round."""

    name: str
    ratios: list[float] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        low, middle, high = min(self.ratios), median(self.ratios), max(self.ratios)
        return (
            f"{self.name:<42}{len(self.ratios):>8}{median(self.calls):>8.0f}"
            f"{low:>9.3f}{middle:>9.3f}{high:>9.3f}"
        )


class Bench:
    """One server, and the rows filled so far."""

    def __init__(self, server: TimedServer, latency: float) -> None:
        self.server = server
        self.rows: dict[str, Row] = {}
        self._critical_path = STAGES * latency
        self._numbers = count(1)

    def question(self) -> str:
        """Return a question never asked before, because some councils cache answers."""
        return f"{QUESTION} (asked for the {next(self._numbers)}. time)"

    @asynccontextmanager
    async def timed(self, name: str) -> AsyncIterator[None]:
        """Add what the server sees meanwhile to the row of this name."""
        before = len(self.server.requests)
        yield
        asked = self.server.requests[before:]
        if not asked or self.server.replied_at < asked[-1].at:
            raise RuntimeError(f"{name}: the server saw no round from first call to last reply")
        row = self.rows.setdefault(name, Row(name))
        row.ratios.append((self.server.replied_at - asked[0].at) / self._critical_path)
        row.calls.append(len(asked))


async def fresh(bench: Bench, rivals: Rivals, home: Path) -> None:
    """Run one round of each in a new process."""
    async with bench.timed("council, fresh process"):
        await asyncio.to_thread(our_round, bench.server.api_base)
    for rival, python in rivals.items():
        program = rival.program(python, bench.server.api_base, home / rival.name)
        name = f"{rival.name} {rival.version}, fresh process"
        async with bench.timed(name), worker(program) as process:
            await process.round_(bench.question())


def warm_programs(api_base: str, rivals: Rivals, home: Path) -> dict[str, Program]:
    """Yield each council's worker by the name of its row; each has a separate folder."""
    programs = {"council, warm": our_warm_program(api_base, home / "council-warm")}
    return programs | {
        f"{rival.name} {rival.version}, warm": rival.program(
            python, api_base, home / f"{rival.name}-warm"
        )
        for rival, python in rivals.items()
    }


async def warm(bench: Bench, rivals: Rivals, home: Path, rounds: int) -> None:
    """Run rounds of each in turn, each in one process that has already run one."""
    async with AsyncExitStack() as stack:
        workers: dict[str, Worker] = {}
        for name, program in warm_programs(bench.server.api_base, rivals, home).items():
            workers[name] = await stack.enter_async_context(worker(program))
            await workers[name].round_(bench.question())
        for _ in range(rounds):
            for name, process in workers.items():
                async with bench.timed(name):
                    await process.round_(bench.question())


async def measure(rounds: int, latency: float, with_rivals: bool) -> list[Row]:
    """Fill every row; the councils take turns, so that a busy moment hits them all alike."""
    cache = user_cache_path("council-bot") / "bench"
    rivals = {rival: rival.install(cache) for rival in RIVALS} if with_rivals else {}
    with TemporaryDirectory(prefix="council-bench-") as folder:
        async with TimedServer(latency=latency) as server:
            server.script.update(SCRIPT)
            bench = Bench(server, latency)
            for _ in range(rounds):
                await fresh(bench, rivals, Path(folder))
            await warm(bench, rivals, Path(folder), rounds)
    return list(bench.rows.values())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.overhead", description=__doc__)
    parser.add_argument("--rivals", action="store_true", help="install and measure the rivals too")
    parser.add_argument("--rounds", type=int, default=10, help="rounds a row (default 10)")
    parser.add_argument("--latency", type=float, default=0.5, help="seconds a model call takes")
    wanted = parser.parse_args()

    rows = asyncio.run(measure(wanted.rounds, wanted.latency, wanted.rivals))

    path = STAGES * wanted.latency
    print(
        f"4 members and a chairman; wall time over the critical path of {path:g} s (1 is ideal)\n"
    )
    print(f"{'':<42}{'rounds':>8}{'calls':>8}{'min':>9}{'median':>9}{'max':>9}")
    for row in rows:
        print(row)
    for rival in RIVALS if wanted.rivals else ():
        if rival.without:
            print(
                f"\n{rival.name} runs without {', '.join(rival.without)}, so its figures lack it."
            )


if __name__ == "__main__":
    main()
