"""Rounds a second of one, two and three processes on one Postgres, and what bounds them.

All share this machine: the processes, Postgres, and the scripted model server, which is a process
of its own. Who used the processors meanwhile is counted, so that the bound can be named.
"""

import argparse
import asyncio
import json
import re
import secrets
import sys
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil

from tests.bot.homes import served_config
from tests.postgres import Server, a_database
from tests.soak.cluster.fleet import Copy, Fleet, Owners, a_server, homes
from tests.soak.cluster.soak import Books

MEMBERS = ("a", "b", "c", "d")
TERMS = {"chairman": ["openai/a"], "audit_share": 0.0}
CLOSED = "SELECT count(*) FROM round WHERE seconds IS NOT NULL"
PATIENCE_SECONDS = 600.0
BUSY = 0.85
WARM = 4  # rounds a process, before any are counted
_LIMIT = '[providers."{host}"]\nconcurrency = 5000\n'  # no limit of our own is to be the bound
_TOKEN = re.compile(r'name="token" value="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Row:
    """What so many processes did; processor seconds by who used them, and the machine's share."""

    processes: int
    rounds: int
    seconds: float
    used: tuple[float, ...]
    busy: float

    @property
    def speed(self) -> float:
        """Rounds a second."""
        return self.rounds / self.seconds

    def line(self, first: "Row") -> str:
        """Return its row of the table; the ratio is to the first row."""
        each = "".join(f"{1000 * seconds / self.rounds:>10.0f}" for seconds in self.used)
        ratio = self.speed / first.speed
        start = f"{self.processes:>9}{self.rounds:>8}{self.seconds:>9.1f}{self.speed:>10.1f}"
        return f"{start}{ratio:>8.2f}{each}{self.busy:>9.0%}"


async def measured(folder: Path, processes: int, rounds: int, postgres: Server) -> Row:
    """Ask many rounds of several processes at once and wait for the last one."""
    with a_database(postgres) as url:
        async with models() as (api_base, pid):
            made = homes(folder, {"COUNCIL_DATABASE_URL": url}, toml(api_base), processes)
            fleet, books = Fleet(made, Owners()), Books(url)
            async with fleet.running():
                warm = WARM * processes  # libraries load with a first round
                await asked(fleet.copies, warm)
                await books.come_to(CLOSED, warm, PATIENCE_SECONDS)
                groups = ([c.pid for c in fleet.copies], [listening(postgres.port)], [pid])
                before, began = [*map(spent, groups)], time.monotonic()
                psutil.cpu_percent()
                await asked(fleet.copies, rounds)
                if not await books.come_to(CLOSED, warm + rounds, PATIENCE_SECONDS):
                    raise RuntimeError("some rounds did not end")
                seconds, busy = time.monotonic() - began, psutil.cpu_percent() / 100
                after = [*map(spent, groups)]
    used = tuple(now - then for now, then in zip(after, before, strict=True))
    return Row(processes, rounds, seconds, used, busy)


def toml(api_base: str) -> str:
    """Return the council.toml of every process."""
    host = api_base.removeprefix("http://").removesuffix("/v1")
    return served_config(api_base, MEMBERS, **TERMS) + _LIMIT.format(host=host)


@asynccontextmanager
async def models(latency: float = 0.2) -> AsyncIterator[tuple[str, int]]:
    """Run the scripted model server; give its address, and its process."""
    words = [sys.executable, "-m", "tests.wire.models", "--latency", str(latency)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
    said = await process.stdout.readline() if process.stdout else b""
    try:
        yield str(json.loads(said)["api_base"]), process.pid
    finally:
        process.terminate()
        await process.wait()


async def asked(copies: Sequence[Copy], rounds: int) -> None:
    """Ask questions on the pages of all processes in turn."""
    shares = [range(number, rounds, len(copies)) for number in range(len(copies))]
    await asyncio.gather(*(_ask(copy, share) for copy, share in zip(copies, shares, strict=True)))


async def _ask(copy: Copy, numbers: Iterable[int]) -> None:
    async with httpx.AsyncClient(base_url=copy.address, trust_env=False, timeout=60) as browser:
        token = _TOKEN.findall((await browser.get("/")).text)[0]
        for number in numbers:
            form = {"token": token, "round": secrets.token_hex(5), "question": f"Why? [{number}]"}
            taken = await browser.post("/ask", data=form)
            if taken.status_code != httpx.codes.SEE_OTHER:
                raise RuntimeError(taken.text)


def spent(pids: Iterable[int]) -> float:
    """Return the processor seconds that processes and their children have used."""
    return sum(_spent(psutil.Process(pid)) for pid in pids)


def _spent(process: psutil.Process) -> float:
    ended = process.cpu_times()
    seconds = float(ended.children_user + ended.children_system)
    for one in (process, *process.children(recursive=True)):
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        seconds += times.user + times.system
    return seconds


def listening(port: int) -> int:
    """Return the process that listens on a port."""
    held = psutil.net_connections("tcp4")
    found = (c.pid for c in held if c.status == psutil.CONN_LISTEN and c.laddr[1:] == (port,))
    return next(pid for pid in found if pid is not None)


async def table(rounds: int, most: int) -> None:
    """Print a line for each number of processes, and what bounds the last."""
    words = ("processes", "rounds", "seconds", "rounds/s", "ratio", "council", "Postgres", "models")
    widths = (9, 8, 9, 10, 8, 10, 10, 10)
    print(f"{len(MEMBERS)} members, 9 calls of 0.2 s a round; processor time in ms a round\n")
    print("".join(f"{w:>{n}}" for w, n in zip(words, widths, strict=True)) + f"{'machine':>9}")
    rows: list[Row] = []
    with TemporaryDirectory(prefix="council-bench-") as folder, a_server() as postgres:
        for processes in range(1, most + 1):
            row = await measured(Path(folder, str(processes)), processes, rounds, postgres)
            rows.append(row)
            print(row.line(rows[0]), flush=True)
    print(f"\n{bound(rows)}")


def bound(rows: Sequence[Row]) -> str:
    """Return in words what limits the last one."""
    cores, last = psutil.cpu_count() or 1, rows[-1]
    own = sum(last.used) / (last.seconds * cores)
    if last.busy > BUSY and own < BUSY * last.busy:
        return (
            f"The {cores} processors of this machine were busy for {last.busy:.0%} of the time, "
            f"for {own:.0%} with these processes: others used it too, so the ratios say little."
        )
    if last.busy > BUSY:
        return (
            f"All {cores} processors of this machine were busy for {last.busy:.0%} of the time: "
            "they are the bound, and another process on the same machine brings nothing."
        )
    return (
        f"The {cores} processors were busy for {last.busy:.0%} of the time: one process uses one "
        "of them at most, and a round waits for its models and for commits the rest of the time."
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cluster", description=__doc__)
    parser.add_argument("--rounds", type=int, default=120, help="rounds asked at once (120)")
    parser.add_argument("--processes", type=int, default=3, help="the most processes (3)")
    wanted = parser.parse_args()
    asyncio.run(table(wanted.rounds, wanted.processes))


if __name__ == "__main__":
    main()
