"""What a turn at a provider costs a call, counted by the process alone and by Postgres for all.

Calls do nothing but hold their turn, so all that passes is waiting. First one after another; then
many at once at three processes, with room for all; then with room for a few, where what is told is
what each further call adds to the whole.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from statistics import median

from council.gateways.throttling.rate_limiter import Clock, LocalRateLimiter
from council.ports import SharedRateLimiter
from council.providers import Limits
from tests.postgres import Server, a_database
from tests.storage.rate_limiter_crowd import postgres_limiters

GATE = "openai"


async def measure_wait(limiter: SharedRateLimiter, limits: Limits) -> float:
    """Return the wait for one turn in milliseconds."""
    began = time.perf_counter()
    async with limiter.slot(GATE, limits):
        return (time.perf_counter() - began) * 1000


async def print_waits(name: str, limiters: Sequence[SharedRateLimiter], calls: int) -> None:
    """Print what turns cost at these processes."""
    roomy, narrow = Limits(concurrency=calls), Limits(concurrency=20)
    alone = [await measure_wait(limiters[0], roomy) for _ in range(calls)]
    at_once = await asyncio.gather(
        *(measure_wait(limiters[n % len(limiters)], roomy) for n in range(calls))
    )
    began = time.perf_counter()
    await asyncio.gather(*(measure_wait(limiters[n % len(limiters)], narrow) for n in range(calls)))
    each = (time.perf_counter() - began) * 1000 / calls
    print(
        f"{name:>10}: one after another {median(alone):.2f} ms, {calls} at once "
        f"{median(at_once):.1f} ms (slowest {max(at_once):.1f}), 20 turns: {each:.2f} ms each"
    )


async def main(calls: int, server: Server) -> None:
    """Measure both."""
    await print_waits("a process", [LocalRateLimiter(Clock())], calls)
    with a_database(server) as url:
        await create_tables(url)
        async with postgres_limiters(url) as limiters:
            await print_waits("Postgres", limiters, calls)


async def create_tables(url: str) -> None:
    """Create the tables."""
    from storage.engine import open_engine
    from storage.migrate import upgrade

    engine = open_engine(url)
    await upgrade(engine)
    await engine.dispose()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    server = Server()
    server.start()
    try:
        asyncio.run(main(parser.parse_args().calls, server))
    finally:
        server.remove()
