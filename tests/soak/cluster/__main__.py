"""`make soak-cluster`: three processes, 300 rounds, one killed, one frozen, Postgres restarted.

`ROUNDS=300`, `PROCESSES=3`; with `BAD=1` Postgres is gone for half a minute as well; `EVENTS=100`
are then delivered ten times each over HTTP, to whichever process; 0 leaves that out.
"""

import asyncio
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from tests.postgres import a_database
from tests.soak.cluster.count import Count
from tests.soak.cluster.duplicates import deliver_often
from tests.soak.cluster.faults import usual
from tests.soak.cluster.fleet import a_server
from tests.soak.cluster.soak import soak

WANTED = (("ROUNDS", "300"), ("PROCESSES", "3"), ("EVENTS", "100"))


def main() -> None:
    """Print the tables, and fail where anything was lost, said twice or paid twice."""
    # Clients that die in the middle of a reply are what this is about.
    for name in ("asyncio", "aiohttp.server"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    folder = Path(mkdtemp(prefix="council-soak-"))
    counts = whole(folder)
    if any(count.breaches for count in counts):
        sys.exit(f"What every process said is kept in {folder}.")
    rmtree(folder)


def whole(folder: Path) -> list[Count]:
    """Run what is wanted, and print each table as soon as it is there."""
    rounds, processes, events = (int(os.environ.get(name, usually)) for name, usually in WANTED)
    bad = os.environ.get("BAD", "") not in {"", "0"}
    counts = []
    with a_server() as postgres:
        if rounds:
            plan = replace(usual(rounds, bad=bad), processes=processes)
            with a_database(postgres) as url:
                counts.append(asyncio.run(soak(folder / "soak", plan, url, postgres)))
            _show(f"{rounds} rounds on {processes} processes", counts[-1])
        if events:
            with a_database(postgres) as url:
                often = deliver_often(folder / "often", events, processes, url)
                counts.append(asyncio.run(often))
            _show(f"\n{events} events, each ten times over HTTP, to any process", counts[-1])
    return counts


def _show(title: str, count: Count) -> None:
    sys.stdout.write(f"{title}\n{count}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
