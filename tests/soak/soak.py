"""Soak test: kill the server at random moments while rounds run, and count what was lost."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from math import ceil
from statistics import median

import httpx

from tests.bot.homes import Home, seat_toml, served_config
from tests.soak.paid import PaidServer
from tests.soak.visiting import Visitor

MEMBERS = ("a", "b", "c", "d", "e")
MARGIN_SECONDS = 0.05
PERCENTILES = (50, 90, 95, 99, 100)
EARLY_SHARE = 0.2  # of kills that do not wait for the first call
PATIENCE_SECONDS = 60.0  # for it: a busy machine takes long to load the libraries
LONGEST_LIFE_SECONDS = 0.8  # after the first call: about two rounds


@dataclass(slots=True)
class Count:
    kills: list[float] = field(default_factory=list)
    first_calls: list[float] = field(default_factory=list)
    rounds: int = 0
    unfinished: int = 0
    answers_shown: int = 0
    verified: int = 0
    calls: int = 0
    repaid: list[float] = field(default_factory=list)
    in_flight: int = 0
    ages: list[float] = field(default_factory=list)  # of replies that were paid twice

    def __str__(self) -> str:
        resumed = sorted(self.first_calls) or [0.0]
        rows = {
            "kills": len(self.kills),
            "rounds": self.rounds,
            "rounds that did not end": self.unfinished,
            "answers shown": self.answers_shown,
            "verified": self.verified,
            "calls": self.calls,
            f"repaid, answered more than {MARGIN_SECONDS * 1000:.0f} ms before": len(self.repaid),
            "of these the longest before, in ms": f"{1000 * max(self.repaid, default=0):.0f}",
            "asked again, in flight at the kill": self.in_flight,
            "replies asked again that had arrived": len(self.ages),
            **{
                f"arrived before the kill, in ms, {share} %": _percentile_ms(self.ages, share)
                for share in PERCENTILES
            },
            "seconds from start to first call, median": f"{median(resumed):.2f}",
            "seconds from start to first call, 95 %": f"{resumed[int(0.95 * len(resumed))]:.2f}",
            "seconds from start to first call, longest": f"{resumed[-1]:.2f}",
        }
        return "\n".join(f"{name:<50}{value:>8}" for name, value in rows.items())


async def soak(
    home: Home, kills: int, rounds: int, *, at_once: int = 1, method: str = "blind-ranking"
) -> Count:
    """Run at least so many rounds by a method, so many at once, with so many kills."""
    count, rng = Count(), random.Random(kills)
    async with PaidServer(latency=0.08) as server:
        terms = {"chairman": ["openai/a"], "method": method, "outside_judges": ["openai/o"]}
        config = served_config(server.api_base, MEMBERS, **terms)
        home = home.with_config(config + seat_toml("openai/o", api_base=server.api_base))
        address = home.settings["COUNCIL_PORT"]
        asking = _Asking(f"http://127.0.0.1:{address}", rounds, at_once)
        work = asyncio.create_task(asking.work())
        while len(count.kills) < kills:
            server.called.clear()
            async with _alive(home, count.kills) as started:
                # Now and then one dies before its first call.
                with suppress(TimeoutError):
                    early = rng.random() < EARLY_SHARE
                    async with asyncio.timeout(rng.uniform(0.2, 6) if early else PATIENCE_SECONDS):
                        await server.called.wait()
                        count.first_calls.append(time.time() - started)
                await asyncio.sleep(rng.uniform(0, LONGEST_LIFE_SECONDS))
        asking.may_end.set()
        async with _alive(home, []):
            await work
            await asking.look(count)
        count.calls = server.bill.total
        ages = server.bill.again(count.kills)
        count.ages = sorted(age for age in ages if age)
        count.repaid = sorted(age for age in ages if age > MARGIN_SECONDS)
        count.in_flight = len(ages) - len(count.repaid)
    return count


def _percentile_ms(ages: list[float], share: int) -> str:
    """Return the nearest-rank percentile of sorted seconds, in milliseconds."""
    return f"{1000 * ages[ceil(share / 100 * len(ages)) - 1]:.0f}" if ages else "-"


class _Asking:
    """Asks numbered rounds until there are enough and it is allowed to end."""

    def __init__(self, address: str, rounds: int, at_once: int) -> None:
        self.may_end = asyncio.Event()
        self._visitor = Visitor(address)
        self._wanted = rounds
        self._at_once = at_once
        self._ids: list[str] = []

    async def work(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._at_once):
                group.create_task(self._ask_on())

    async def _ask_on(self) -> None:
        while len(self._ids) < self._wanted or not self.may_end.is_set():
            number = len(self._ids)
            self._ids.append("")
            self._ids[number] = await self._visitor.ask(f"What now? [round {number}]")
            await self._visitor.closed(self._ids[number])

    async def look(self, count: Count) -> None:
        for round_id in self._ids:
            document = await self._visitor.document(round_id)
            count.unfinished += document["stage"] != "closed"
            page = await self._visitor.page(round_id)
            count.answers_shown += page.count('<article aria-label="The council')
            # The second where nobody ranks, as in a peer review.
            sound = ("Verified: the results match", "Verified: nothing was ranked, and labels")
            count.verified += any(sentence in page for sentence in sound)
        count.rounds = len(set(self._ids))
        await self._visitor.close()


@asynccontextmanager
async def _alive(home: Home, kills: list[float]) -> AsyncIterator[float]:
    """Run the product from when it answers until the block ends, then kill it and note when."""
    started = time.time()
    process = await home.started("serve", fresh=True)
    try:
        async with httpx.AsyncClient(timeout=5, trust_env=False) as client:
            while True:
                assert process.returncode is None, "it did not start"
                try:
                    await client.get(f"http://127.0.0.1:{home.settings['COUNCIL_PORT']}/healthz")
                    break
                except httpx.TransportError:
                    await asyncio.sleep(0.05)
        yield started
    finally:
        process.kill()
        # At the signal: until all of a process is gone takes tens of milliseconds more.
        kills.append(time.time())
        await process.communicate()
