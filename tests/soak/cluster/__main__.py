"""`make soak-cluster`: three processes, 300 rounds, one killed, one frozen, Postgres restarted.

`ROUNDS=300`, `PROCESSES=3`; with `BAD=1` Postgres is gone for half a minute as well; `EVENTS=100`
are then delivered ten times each over HTTP, to whichever process; 0 leaves that out.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.postgres import Server, a_server
from tests.soak.cluster.count import Count
from tests.soak.cluster.duplicates import deliver_often
from tests.soak.cluster.plan import usual
from tests.soak.cluster.soak import soak


async def whole(folder: Path, postgres: Server) -> Sequence[Count]:
    """Run what is wanted, and print each table as it is there."""
    bad = os.environ.get("BAD", "") not in {"", "0"}
    rounds, processes, events = (int(os.environ.get(name, usually)) for name, usually in WANTED)
    plan = replace(usual(rounds, bad=bad), processes=processes)
    counts = [await soak(folder / "soak", plan, postgres.url("soak"), postgres)]
    _show(counts[-1])
    if events:
        often = await deliver_often(folder / "often", events, processes, postgres.url("often"))
        counts.append(often)
        _show(often, f"\n{events} events, each delivered ten times over HTTP\n")
    return counts


def _show(count: Count, title: str = "") -> None:
    sys.stdout.write(f"{title}{count}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the tables, and fail where anything was lost, said twice or paid twice."""
    # Clients that die in the middle of a reply are what this is about.
    for name in ("asyncio", "aiohttp.server"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with TemporaryDirectory(prefix="council-soak-") as folder, a_server() as postgres:
        counts = asyncio.run(whole(Path(folder), postgres))
    sys.exit(any(count.breaches for count in counts))


WANTED = (("ROUNDS", "300"), ("PROCESSES", "3"), ("EVENTS", "100"))

if __name__ == "__main__":
    main()
