"""Many rounds at once on one machine: how long they take, how late the loop runs, how much memory.

The product runs as it is, behind its page; the models are a scripted server.
"""

import argparse
import asyncio
import re
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil

from tests.bot.homes import Home, served_config
from tests.ports import free_port
from tests.soak.visiting import Visitor
from tests.wire.models import ModelServer

MEMBERS = ("a", "b", "c", "d", "e")
STAGES = 3
_LAG = re.compile(r'council_loop_lag_seconds_bucket{le="([^"]+)"} ([0-9.]+)')


async def crowd(rounds: int, latency: float, folder: Path) -> None:
    port = free_port()
    async with ModelServer(latency=latency) as server:
        config = served_config(server.api_base, MEMBERS, audit_share=0.0)
        home = Home(folder, {"COUNCIL_PORT": str(port)}).with_config(config)
        process = await home.started("serve")
        address = f"http://127.0.0.1:{port}"
        visitors = [Visitor(address) for _ in range(rounds)]
        try:
            warm = Visitor(address)
            await warm.closed(await warm.ask("Is it warm?"))
            started = time.monotonic()
            await asyncio.gather(*(run_round(v, n) for n, v in enumerate(visitors)))
            seconds = time.monotonic() - started
            memory = psutil.Process(process.pid).memory_info().rss
            async with httpx.AsyncClient(trust_env=False) as client:
                lag = (await client.get(f"{address}/metrics")).text
        finally:
            process.kill()
            await process.communicate()
    print(f"{rounds} rounds of {len(MEMBERS)} members at once, {latency:g} s a call")
    print(f"all ended after          {seconds:8.1f} s ({STAGES * latency:g} s is one round alone)")
    print(f"rounds a second          {rounds / seconds:8.1f}")
    print(f"event-loop lag, 99 %     {percentile(lag, 0.99):>8}")
    print(f"memory                   {memory / 1e6:8.0f} MB")


async def run_round(visitor: Visitor, number: int) -> None:
    round_id = await visitor.ask(f"What now? [round {number}]")
    await visitor.closed(round_id, pause_seconds=1)
    await visitor.close()


def percentile(text: str, share: float) -> str:
    """Return the histogram bucket below which this share of all measurements lie."""
    buckets = [(bound, float(count)) for bound, count in _LAG.findall(text)]
    total = buckets[-1][1]
    return next(f"<= {bound} s" for bound, count in buckets if count >= share * total)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.crowd", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds a model call takes")
    wanted = parser.parse_args()
    with TemporaryDirectory(prefix="council-crowd-") as folder:
        asyncio.run(crowd(wanted.rounds, wanted.latency, Path(folder)))


if __name__ == "__main__":
    main()
