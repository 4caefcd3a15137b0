"""How quick the page is with very many stored rounds: its start, its first page, one round.

    python -m tests.bench.stored_rounds [--rounds 100000]

One scripted round is stored by the product and then copied, with all its rows, in SQLite.
"""

import argparse
import asyncio
import sqlite3
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import httpx

from tests.bot.homes import Home, scripted_config
from tests.bot.web.browser.product import serve_product

REPEATS = 7


def copy_round(database: Path, round_id: str, copies: int) -> None:
    """Store so many copies of a round, a minute apart, with every row that belongs to it."""
    with sqlite3.connect(database) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        tables = {
            name: [row[1] for row in connection.execute(f"PRAGMA table_info({name!r})")]
            for name in names
            if not name.startswith(("ix_", "sqlite_"))
        }
        for table, columns in sorted(tables.items(), key=lambda item: item[0] != "round"):
            key = "id" if table == "round" else "round_id"
            if key not in columns:
                continue
            changed = {key: "printf('%012x', n)", "number": "number + n", "hash": "hash || n"}
            if table == "outgoing":
                changed["key"] = "key || n"
            if table == "round":
                changed["asked_at"] = "datetime(asked_at, '-' || n || ' minutes')"
            values = ", ".join(changed.get(name, f'"{name}"') for name in columns)
            listed = ", ".join(f'"{name}"' for name in columns)
            numbers = "SELECT 1 UNION ALL SELECT n + 1 FROM counter"
            # The names of tables and columns are our own.
            copied = f"SELECT {values} FROM counter, {table} WHERE {key} = ?"  # noqa: S608
            counter = f"WITH RECURSIVE counter(n) AS ({numbers} WHERE n < {copies})"
            connection.execute(f"{counter} INSERT INTO {table} ({listed}) {copied}", [round_id])


async def seconds_of(client: httpx.AsyncClient, path: str) -> float:
    """Return the median time of a page, once it was opened before."""
    (await client.get(path)).raise_for_status()
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        (await client.get(path)).raise_for_status()
        times.append(time.perf_counter() - started)
    return median(times)


async def measure(home: Home, round_id: str) -> str:
    """Return how long a start and two pages take."""
    started = time.perf_counter()
    async with serve_product(home, fresh=True) as product:
        start = time.perf_counter() - started
        async with httpx.AsyncClient(base_url=product.address, timeout=60) as client:
            front = await seconds_of(client, "/")
            listed = await seconds_of(client, "/rounds")
            one = await seconds_of(client, f"/rounds/{round_id}")
    return (
        f"start {start:5.2f} s   front {front:6.3f} s   list {listed:6.3f} s   round {one:6.3f} s"
    )


def main() -> None:
    """Measure a store with one round, and one with many."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100_000)
    rounds = parser.parse_args().rounds
    with TemporaryDirectory() as folder:
        home = Home(Path(folder)).with_config(scripted_config())
        round_id = home.council("ask", "Which queue should we use?", "--json").json["id"]
        print(f"{1:>7} round:  {asyncio.run(measure(home, round_id))}")
        copy_round(home.database, round_id, rounds)
        size = home.database.stat().st_size / 1e6
        print(f"{rounds:>7} rounds: {asyncio.run(measure(home, round_id))}   {size:.0f} MB")


if __name__ == "__main__":
    main()
