"""Processor time of a round over bare litellm's for the same calls, and many rounds at once.

    python -m tests.bench.cpu [--rounds 40] [--profile FILE]

The scripted models are a process of their own, so that their work is not counted. A round has four
members and a chairman: nine calls, on SQLite, as `council ask` runs them.
"""

import argparse
import asyncio
import cProfile
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from bot.bootstrap import StartOptions, open_app
from bot.chat import TERMINAL, Asker, IncomingMessage
from bot.commands.ask import ask
from bot.context import AppContext
from bot.observability import logs
from bot.settings import load_settings
from bot.terminal import TerminalChat
from council.answers import Role
from council.rounds import Round
from tests.bench.ours import QUESTION, environment

MANY = 200


@contextmanager
def model_process(latency: float) -> Iterator[str]:
    """Yield the address of scripted models in another process."""
    words = [sys.executable, "-m", "tests.wire.models", "--latency", str(latency)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        yield json.loads(server.stdout.readline())["api_base"]
        server.terminate()


async def one_round(app: AppContext, number: int) -> str:
    """Ask one question, as a person in a terminal does, and return the round's id."""
    question = f"{QUESTION} ({number})"
    said = IncomingMessage(question, Asker("bench", "bench"), TERMINAL, app.new_id())
    await ask(app, TerminalChat(Console(quiet=True)), said, {"question": question})
    return said.key


async def run_many(work: Callable[[int], Awaitable[object]], numbers: range, at_once: int) -> None:
    """Do the work for each number, so many at a time."""
    waiting = iter(numbers)

    async def take() -> None:
        for number in waiting:
            await work(number)

    await asyncio.gather(*(take() for _ in range(at_once)))


async def measured(work: Callable[[int], Awaitable[object]], numbers: range, at_once: int) -> str:
    """Return processor milliseconds and how many were done in a second."""
    cpu, wall = time.process_time(), time.perf_counter()
    await run_many(work, numbers, at_once)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    cost, speed = 1000 * cpu / len(numbers), len(numbers) / wall
    return f"{cost:7.1f} ms of processor time, {speed:5.1f} a second"


def bare_calls(round_: Round, api_base: str) -> list[dict[str, Any]]:
    """Return the arguments with which litellm makes the calls of a round, stage by stage."""
    exchanges = [
        *((Role.ANSWER, a.member, a.prompt) for a in round_.answers),
        *((Role.BALLOT, b.judge, b.paper.prompt) for b in round_.ballots if b.paper),
    ]
    if round_.synthesis and round_.synthesis.prompt:
        exchanges.append((Role.SYNTHESIS, round_.synthesis.chairman or "", round_.synthesis.prompt))
    return [
        {
            "model": member,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "api_base": api_base,
            "stream": role is Role.SYNTHESIS,
        }
        for role, member, prompt in exchanges
    ]


async def bare_round(litellm: Any, calls: list[dict[str, Any]]) -> None:  # noqa: ANN401
    """Make the calls of a round with nothing but litellm; what is streamed is read."""
    members = (len(calls) - 1) // 2
    for stage in (calls[:members], calls[members:-1], calls[-1:]):
        for reply in await asyncio.gather(*(litellm.acompletion(**call) for call in stage)):
            if hasattr(reply, "__aiter__"):
                _ = [chunk async for chunk in reply]


async def lag_of(work: Awaitable[object]) -> tuple[float, float]:
    """Do the work; return the median and 99th percentile of the event loop's lag, in seconds."""
    lags, running = [], asyncio.ensure_future(work)
    while not running.done():
        before = time.perf_counter()
        await asyncio.sleep(0.005)
        lags.append(time.perf_counter() - before - 0.005)
    await running
    return quantiles(lags, n=100)[49], quantiles(lags, n=100)[98]


async def bench(rounds: int, api_base: str, profile: Path | None) -> None:
    """Print all figures of one process."""
    async with open_app(load_settings(), StartOptions()) as app:
        import litellm  # only once the settings have made it work offline

        first = await app.store.load(await one_round(app, -1))
        calls = bare_calls(first, api_base)
        print(f"{len(calls)} calls a round")
        await run_many(lambda n: one_round(app, n), range(10), 5)
        await bare_round(litellm, calls)
        for at_once in (1, 20):
            bare = await measured(lambda _: bare_round(litellm, calls), range(rounds), at_once)
            print(f"bare litellm, {at_once:>2} at once: {bare}")
            with cProfile.Profile() if profile and at_once > 1 else nullcontext() as profiled:
                ours = await measured(lambda n: one_round(app, n), range(rounds), at_once)
            print(f"the council,  {at_once:>2} at once: {ours}")
            if profiled and profile:
                profiled.dump_stats(profile)
        median, p99 = await lag_of(run_many(lambda n: one_round(app, n), range(MANY), MANY))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        lag = f"lag {1000 * median:.0f} ms, p99 {1000 * p99:.0f} ms"
        print(f"{MANY} rounds at once: {lag}; {peak:.0f} MB")


def main() -> None:
    """Run the benchmark in an empty home."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--profile", type=Path)
    options = parser.parse_args()
    with model_process(options.latency) as api_base, TemporaryDirectory() as folder:
        os.environ |= environment(api_base, Path(folder))
        logs.configure_logging()
        asyncio.run(bench(options.rounds, api_base, options.profile))


if __name__ == "__main__":
    main()
