"""What a grace period saves where calls have heavy tails, and what it loses.

    python -m tests.bench.grace [--rounds 200]

The rounds are the product's; time is simulated, so that no machine is measured. A call takes two
seconds (lognormal, sigma .5), and one in ten takes 20 s. Also: one member of four never replies.
"""

import argparse
import asyncio
import random
import selectors
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from statistics import quantiles
from typing import Any

from council.answers import Call, Reply, Role
from council.panel import Panel
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.rounds import Round
from tests.builders import GPT, TERMS, a_panel, a_round
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore

SLOW_SECONDS = 20.0
HUNG_SECONDS = 1_000.0


class SimulatedClock(selectors.DefaultSelector):
    """A selector that does not wait: it moves the clock to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        """Return what is ready; without anything, time passes at once."""
        ready = super().select(0)
        if not ready and timeout:
            self.now += timeout
        return ready or super().select(0 if timeout is not None else None)


@dataclass(eq=False)
class TailedGateway(FakeGateway):
    """Replies after a time of its own for each call."""

    seconds: Callable[[Call], float] = lambda _: 0.0
    durations: list[float] = field(default_factory=list)

    async def complete(self, call: Call) -> Reply:
        """Return the scripted reply after its time."""
        await asyncio.sleep(self.seconds(call))
        return await super().complete(call)


async def seconds_of(
    panel: Panel, seconds: Callable[[Call], float], seed: str
) -> tuple[float, Round]:
    """Return after how many seconds a round closed, and the round."""
    store, loop = MemoryStore(), asyncio.get_running_loop()
    await store.open(a_round(panel, seed=seed))
    services = RoundServices(TailedGateway(seconds=seconds), store, loop.time, in_thread=inline)
    begun = loop.time()
    round_ = await run_round("r1", services)
    took = loop.time() - begun
    services.late.cancel()
    return took, round_


async def inline(work: Callable[..., Any], *arguments: object) -> object:
    """Call at once: a thread knows nothing of simulated time."""
    return work(*arguments)


def simulated(work: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Run a coroutine in simulated time."""
    clock = SimulatedClock()
    loop = asyncio.SelectorEventLoop(clock)
    loop.time = lambda: clock.now  # type: ignore[method-assign]
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(work())


def tailed(seed: int) -> Callable[[Call], float]:
    """Return the durations of a round's calls: the same for every panel with this seed."""

    def seconds(call: Call) -> float:
        drawn = random.Random(f"{seed} {call.member.key} {call.role} {call.prompt.user[-40:]}")
        return SLOW_SECONDS if drawn.random() < 0.1 else drawn.lognormvariate(0.7, 0.5)

    return seconds


def rounds_with(grace: float | None, rounds: int) -> Iterator[tuple[float, Round]]:
    """Yield the duration of each round of five with this grace period, and the round."""
    panel = a_panel(5, terms=replace(TERMS, grace_seconds=grace))
    for number in range(rounds):
        yield simulated(lambda n=number: seconds_of(panel, tailed(n), f"s{n}"))  # type: ignore[misc]


def lost(rounds: list[Round], role: Role) -> float:
    """Return which share of answers or ballots did not count."""
    missing = sum(absence.role is role for round_ in rounds for absence in round_.absences)
    return missing / sum(len(round_.panel.members) for round_ in rounds)


def hung_member() -> None:
    """Print how long a round takes of whose four members one never replies."""

    def seconds(call: Call) -> float:
        return HUNG_SECONDS if call.member.key == GPT else 1.0

    for grace in (None, 2.0):
        panel = a_panel(4, terms=replace(TERMS, quorum=3, grace_seconds=grace))
        took, _ = simulated(lambda p=panel: seconds_of(p, seconds, "hung"))  # type: ignore[misc]
        print(f"one of four hangs, {_named(grace)}: {took:.1f} s (critical path: 3.0 s)")


def _named(grace: float | None) -> str:
    return "no grace" if grace is None else f"grace {grace:g} s"


def main() -> None:
    """Print the 95th percentile of each grace period, over that without, and what it loses."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=200)
    count = parser.parse_args().rounds
    whole = 0.0
    for grace in (None, 10.0, 5.0, 2.0, 1.0):
        runs = list(rounds_with(grace, count))
        p95 = quantiles([seconds for seconds, _ in runs], n=20)[-1]
        whole = whole or p95
        rounds = [round_ for _, round_ in runs]
        answers, ballots = lost(rounds, Role.ANSWER), lost(rounds, Role.BALLOT)
        print(
            f"{_named(grace):>10}: 95 % within {p95:5.1f} s, ratio {p95 / whole:.2f}; "
            f"lost {answers:.0%} of answers, {ballots:.0%} of ballots"
        )
    hung_member()


if __name__ == "__main__":
    main()
