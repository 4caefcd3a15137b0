"""Shared parts of the chats' soak tests: people who ask, kills, and counts."""

import asyncio
import logging
import os
import random
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.bot.homes import Home
from tests.wire.faults import Slow

if TYPE_CHECKING:  # one of the chats may be absent
    from tests.wire.discord import FakeDiscord
    from tests.wire.slack import FakeSlack

REPLIES = 1  # the results with the rankings


def wanted_parts(parts: Sequence[str], *, has_thread: bool) -> list[str]:
    """Return the parts that a round must have: without a thread, its answer and perhaps a mention.

    A round that was killed may have taken long enough for a mention.
    """
    if has_thread:
        return [str(number) for number in range(REPLIES + 1)]
    return ["0", *(["1"] if "1" in parts else [])]


PEOPLE = ("U1", "U2", "UADMIN")
PLACES = 6
TERMS: dict[str, Any] = {"chairman": ["openai/a"], "audit_share": 0.0}
LONGEST_LIFE_SECONDS = 4.0
BY_QUESTION = "SELECT id FROM round WHERE question = ?"
UNTOLD = "SELECT 1 FROM round WHERE NOT delivered"
PATIENCE_SECONDS = 300.0
WANTED = (("KILLS", "100"), ("AT_ONCE", "3"))


@dataclass(slots=True)
class Count:
    """Results of a soak; a reply has this many seconds to be read and saved."""

    margin_seconds: float
    kills: list[float] = field(default_factory=list)
    amid: int = 0
    asked: int = 0
    rounds: int = 0
    roots: int = 0
    replies: int = 0
    lasts: int = 0
    answers: int = 0
    duplicates: int = 0
    lost: int = 0
    out_of_order: int = 0
    calls: int = 0
    ages: list[float] = field(default_factory=list)  # of replies when they were lost

    @property
    def repaid(self) -> int:
        """How many calls were made again though their reply had been there for long."""
        return sum(age > self.margin_seconds for age in self.ages)

    @property
    def wrong(self) -> int:
        """How much is not as it must be."""
        return self.duplicates + self.lost + self.out_of_order + self.repaid

    def import_round(self, asked: int, rounds: int) -> None:
        """Count the questions, and the rounds that were stored of them."""
        self.asked, self.rounds = asked, rounds
        self.lost += max(0, asked - rounds)
        self.duplicates += max(0, rounds - asked)

    def look_at(self, parts: Sequence[str], wanted: Sequence[str]) -> None:
        """Count a round's messages by their parts: a root first, then the replies."""
        root, last = wanted[0], wanted[-1]
        self.roots += parts.count(root)
        self.lasts += parts.count(last)
        self.replies += len(parts) - parts.count(root)
        self.duplicates += len(parts) - len(set(parts))
        self.lost += len(set(wanted) - set(parts))
        self.out_of_order += list(dict.fromkeys(parts)) != [p for p in wanted if p in parts]

    def __str__(self) -> str:
        rows = {
            "kills": len(self.kills),
            "of these between a deed of the chat's and its reply": self.amid,
            "questions taken in": self.asked,
            "rounds": self.rounds,
            "roots": self.roots,
            "roots that hold an answer": self.answers,
            "thread messages": self.replies,
            "complete threads": self.lasts,
            "duplicates": self.duplicates,
            "lost": self.lost,
            "out of order": self.out_of_order,
            "calls": self.calls,
            f"repaid, answered more than {self.margin_seconds * 1000:.0f} ms before": self.repaid,
            "asked again, in flight or not saved yet": len(self.ages) - self.repaid,
            "of these half no longer before than, in ms": f"{1000 * median(self.ages or [0]):.0f}",
            "the longest before, in ms": f"{1000 * max(self.ages, default=0):.0f}",
        }
        return "\n".join(f"{name:<50}{value:>8}" for name, value in rows.items())


class Crowd(ABC):
    """People who ask numbered questions, each again and again until its answer is there."""

    def __init__(self, home: Home, fake: "FakeSlack | FakeDiscord", rng: random.Random) -> None:
        self.kills: list[float] = []
        self.asked = 0
        self._may_end = asyncio.Event()
        self._home = home
        self._fake = fake
        self._rng = rng

    async def soak(
        self, at_once: int, kills: int, life: float, moments: Sequence[str], count: Count
    ) -> None:
        """Ask, so many questions at once, with so many kills; count the messages that are there."""
        work = asyncio.create_task(self._ask(at_once))
        while len(self.kills) < kills:
            async with self._alive():
                count.amid += await moment(self._fake, self._rng, life, moments)
        count.kills = list(self.kills)
        self._may_end.set()
        async with self._alive():
            with suppress(TimeoutError):  # what nobody answers is counted as lost
                await asyncio.wait_for(work, PATIENCE_SECONDS)
            await self._fake.until(lambda: not self._home.sql(UNTOLD), PATIENCE_SECONDS)
        rounds = self._home.sql("SELECT id, workspace, channel FROM round")
        count.import_round(self.asked, len(rounds))
        for round_id, workspace, channel in rounds:
            self.look_at(round_id, f"{workspace}/{channel}", count)

    async def _ask(self, at_once: int) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(self._ask_on())

    async def _ask_on(self) -> None:
        while not self._may_end.is_set():
            number = self.asked
            self.asked += 1
            await self.ask_until_told(f"What now? [round {number}]")

    @asynccontextmanager
    async def _alive(self) -> AsyncIterator[None]:
        """Run the product from when the chat has its link until the block ends, then kill it."""
        process, started = await self._home.started("serve", fresh=True), False
        try:
            await self._fake.connected(seconds=120)
            started = True
            yield
        finally:
            process.kill() if started else process.send_signal(signal.SIGABRT)
            killed = time.time()
            _, said = await process.communicate()
            if not started:
                sys.stderr.write(f"the product did not connect:\n{said.decode()[-8000:]}\n")
            self.disconnect()
            self.kills.append(killed)

    @abstractmethod
    async def ask_until_told(self, text: str) -> None:
        """Ask a question, through whatever kills come, until its answer stands."""

    @abstractmethod
    def disconnect(self) -> None:
        """Cut the link of a process that was killed."""

    @abstractmethod
    def look_at(self, round_id: str, place: str, count: Count) -> None:
        """Count the messages of a round; the place is workspace/channel."""


async def moment(
    fake: "FakeSlack | FakeDiscord", rng: random.Random, life: float, deeds: Sequence[str]
) -> bool:
    """Wait until it is time to die; say whether that is between a deed and its reply."""
    if rng.random() < 0.5:
        await asyncio.sleep(rng.uniform(0, life))
        return False
    deed = rng.choice(deeds)
    done = len(fake.called(deed)) + rng.randrange(4)
    with suppress(AssertionError):
        await fake.until(lambda: len(fake.called(deed)) >= done, life)
        fake.trouble(deed, Slow(60.0))
        await fake.until(lambda: fake.called(deed)[done:], life)
        return fake.called(deed)[-1].outcome.startswith(("ok", "2"))
    fake.calm()
    return False


def run(soak: Callable[[Home, int, int, int, float], Awaitable[Count]]) -> None:
    """Run a soak, print its table, and fail where anything was lost or said or paid twice.

    On a busy machine a life of LIFE seconds lets more than a start be done in it.
    """
    # A client that was killed in the middle of a reply is what this is about.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    kills, at_once = (int(os.environ.get(name, default)) for name, default in WANTED)
    life = float(os.environ.get("LIFE", LONGEST_LIFE_SECONDS))

    async def whole(folder: str) -> Count:
        return await soak(Home(Path(folder)), kills, at_once, kills, life)

    with TemporaryDirectory(prefix="council-soak-") as folder:
        count = asyncio.run(whole(folder))
    sys.stdout.write(f"{count}\n")
    sys.exit(bool(count.wrong))
