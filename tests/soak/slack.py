"""Kill the product at random moments while people ask it in Slack, and count what stands there.

`KILLS=100 python -m tests.soak.slack`, or `make soak OF=slack KILLS=100`.
"""

import asyncio
import logging
import math
import os
import random
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.bot.homes import Home, served_panel
from tests.bot.slack.serving import settings_for
from tests.soak.paid import PaidServer
from tests.soak.ports import free_port
from tests.soak.soak import MEMBERS
from tests.wire.slack import BOT, Channel, FakeSlack, Rates, Rules, Slow
from tests.wire.slack.acting import Event

REPLIES = 2 + len(MEMBERS)  # two tables, and each member's answer
PEOPLE = ("U1", "U2", "UADMIN")
PLACES = 6
MARGIN_SECONDS = 0.5  # a reply is saved when its turn comes, and all rounds share one file
LONGEST_LIFE_SECONDS = 4.0
UNTOLD = "SELECT 1 FROM round WHERE NOT delivered"
PATIENCE_SECONDS = 300.0
MOMENTS = ("chat.postMessage", "chat.update", "files.completeUploadExternal")


@dataclass(slots=True)
class Count:
    """What a soak came to."""

    kills: list[float] = field(default_factory=list)
    amid: int = 0
    asked: int = 0
    rounds: int = 0
    roots: int = 0
    replies: int = 0
    files: int = 0
    answers: int = 0
    duplicates: int = 0
    lost: int = 0
    out_of_order: int = 0
    calls: int = 0
    ages: list[float] = field(default_factory=list)  # of replies when they were lost
    margin_seconds: float = MARGIN_SECONDS  # for a reply to be read and saved

    @property
    def repaid(self) -> int:
        """How many calls were made again though their reply had been there for long."""
        return sum(age > self.margin_seconds for age in self.ages)

    @property
    def wrong(self) -> int:
        """How much is not as it must be."""
        return self.duplicates + self.lost + self.out_of_order + self.repaid

    def __str__(self) -> str:
        """Give the table."""
        rows = {
            "kills": len(self.kills),
            "of these between a deed of the chat's and its reply": self.amid,
            "questions taken in": self.asked,
            "rounds": self.rounds,
            "roots": self.roots,
            "roots that hold an answer": self.answers,
            "thread messages": self.replies,
            "files": self.files,
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


async def soak(
    home: Home, kills: int, at_once: int, seed: int, life: float = LONGEST_LIFE_SECONDS
) -> Count:
    """Have questions asked, so many at once, through so many kills; see what stands in Slack."""
    count, rng = Count(), random.Random(seed)
    rules = Rules(retry_delays=(0.5, 1.0, 2.0), rates=Rates(off=True))
    async with PaidServer(latency=0.08) as server, FakeSlack(rules=rules) as slack:
        for number in range(PLACES):
            slack.workspace.add_channel(
                Channel(f"C9{number}", f"r{number}", members={BOT, *PEOPLE})
            )
        terms = {"chairman": ["openai/a"], "audit_share": 0.0}
        settings = {**settings_for(slack, "socket"), "COUNCIL_PORT": str(free_port())}
        home = home.with_settings(**settings)
        home.with_config(served_panel(server.api_base, MEMBERS, **terms))
        crowd = _Crowd(home, slack, rng)
        work = asyncio.create_task(crowd.ask(at_once))
        while len(count.kills) < kills:
            async with _alive(home, slack):
                count.amid += await _moment(slack, rng, life)
            count.kills.append(time.time())
        crowd.may_end.set()
        async with _alive(home, slack):
            with suppress(TimeoutError):  # what nobody answers is counted as lost
                await asyncio.wait_for(work, PATIENCE_SECONDS)
            await crowd.all_told()
        crowd.look(count)
        ages = server.bill.again(count.kills)
        count.calls = server.bill.total
        count.ages = ages
    return count


async def _moment(slack: FakeSlack, rng: random.Random, life: float) -> bool:
    """Wait until it is time to die; say whether that is between a deed and its reply."""
    if rng.random() < 0.5:
        await asyncio.sleep(rng.uniform(0, life))
        return False
    method = rng.choice(MOMENTS)
    done = len(slack.called(method)) + rng.randrange(4)
    with suppress(AssertionError):
        await slack.until(lambda: len(slack.called(method)) >= done, life)
        slack.trouble(method, Slow(60.0))
        await slack.until(lambda: slack.called(method)[done:], life)
        return slack.called(method)[-1].outcome == "ok"
    while slack.state.troubles.next(method):
        pass
    return False


class _Crowd:
    """People who ask numbered questions, in channels and alone with the bot."""

    def __init__(self, home: Home, slack: FakeSlack, rng: random.Random) -> None:
        self.may_end = asyncio.Event()
        self._home = home
        self._slack = slack
        self._rng = rng
        self._asked = 0

    async def ask(self, at_once: int) -> None:
        """Ask on, so many at once."""
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(self._ask_on())

    async def _ask_on(self) -> None:
        while not self.may_end.is_set():
            number = self._asked
            self._asked += 1
            event = await self._say(f"What now? [round {number}]")
            while not event.accepted:
                await asyncio.sleep(0.1)
                await self._slack.deliver_again(event)
            # As long as it takes: the product may be killed a hundred times meanwhile.
            await self._slack.until(partial(self._told, f"[round {number}]"), math.inf)

    async def _say(self, text: str) -> Event:
        user = self._rng.choice(PEOPLE)
        if self._rng.random() < 0.5:
            return await self._slack.direct_message(user, text)
        place = f"C9{self._rng.randrange(PLACES)}"
        return await self._slack.mention(user, place, f"<@{BOT}> {text}")

    def _told(self, words: str) -> bool:
        """Say whether the answer to a question stands anywhere."""
        return any(
            words in str(message.blocks) and "council:answers" in str(message.blocks)
            for channel in self._slack.workspace.channels.values()
            for message in reversed(channel.said)
        )

    async def all_told(self) -> None:
        """Wait until the product itself says that all is said."""
        await self._slack.until(lambda: not self._home.sql(UNTOLD), PATIENCE_SECONDS)

    def look(self, count: Count) -> None:
        """See every round as people do."""
        count.asked = self._asked
        ids = [row[0] for row in self._home.sql("SELECT id FROM round")]
        count.rounds = len(ids)
        count.lost += max(0, self._asked - len(ids))
        count.duplicates += max(0, len(ids) - self._asked)
        for round_id in ids:
            self._look_at(round_id, count)

    def _look_at(self, round_id: str, count: Count) -> None:
        parts: list[str] = []
        for channel in self._slack.workspace.channels.values():
            for message in channel.said:
                names = [file["name"] for file in message.payload.get("files", [])]
                parts += ["file" for name in names if round_id in name]
                key = str(((message.metadata or {}).get("event_payload") or {}).get("key", ""))
                start, _, part = key.rpartition("/")
                if start.endswith(f"/{round_id}"):
                    parts.append(part)
                    count.answers += part == "0" and "council:answers" in str(message.blocks)
        wanted = ["0", *(str(number) for number in range(1, REPLIES + 1)), "file"]
        count.roots += parts.count("0")
        count.files += parts.count("file")
        count.replies += len(parts) - parts.count("0") - parts.count("file")
        count.duplicates += len(parts) - len(set(parts))
        count.lost += len(set(wanted) - set(parts))
        count.out_of_order += list(dict.fromkeys(parts)) != [p for p in wanted if p in parts]


@asynccontextmanager
async def _alive(home: Home, slack: FakeSlack) -> AsyncIterator[None]:
    """Run the product from when Slack has its link until the block ends, then kill it."""
    process = await home.started("serve")
    try:
        await slack.connected(seconds=60)
        yield
    finally:
        process.kill()
        await process.communicate()
        slack.links.cut()


def main() -> None:
    """Run a soak, print its table, and fail where anything was lost or said or paid twice."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    kills, at_once = (int(os.environ.get(name, default)) for name, default in WANTED)
    with TemporaryDirectory(prefix="council-soak-") as folder:
        count = asyncio.run(soak(Home(Path(folder)), kills, at_once, seed=kills))
    sys.stdout.write(f"{count}\n")
    sys.exit(bool(count.wrong))


WANTED = (("KILLS", "100"), ("AT_ONCE", "3"))

if __name__ == "__main__":
    main()
