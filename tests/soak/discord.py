"""Kill the product at random moments while people ask it in Discord, and count what stands there.

`KILLS=100 python -m tests.soak.discord`, or `make soak OF=discord KILLS=100`. What Discord does
against messages sent twice is switched off: the product has to know by itself.
"""

import asyncio
import logging
import os
import random
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.discord.chat import mark_of
from tests.bot.homes import Home, served_panel
from tests.soak.paid import PaidServer
from tests.soak.ports import free_port
from tests.soak.slack import LONGEST_LIFE_SECONDS, PATIENCE_SECONDS, UNTOLD, WANTED, Count
from tests.soak.soak import MEMBERS
from tests.wire.discord import Channel, FakeDiscord, Message, Rates, Rules, Slow
from tests.wire.discord.scenery import add_channel, standard

REPLIES = 2 + len(MEMBERS)  # two tables, and each member's answer
PEOPLE = ("U1", "U2", "UADMIN")
PLACES = 6
MARGIN_SECONDS = 0.25  # making messages keeps the product's loop busy for so long
MOMENTS = ("POST /channels/*/messages", "PATCH /channels/*/messages/*", "POST /channels/*/threads")
RULES = Rules(identify_seconds=0, rates=Rates(off=True), ack_seconds=1.0, nonce_seconds=-1)


async def soak(
    home: Home, kills: int, at_once: int, seed: int, life: float = LONGEST_LIFE_SECONDS
) -> Count:
    """Have questions asked, so many at once, through so many kills; see what stands in Discord."""
    rng, world = random.Random(seed), standard()
    count = Count(margin_seconds=MARGIN_SECONDS)
    for number in range(PLACES):
        add_channel(world, world.guild("G1"), f"S{number}", f"s{number}")
    async with PaidServer(latency=0.08) as server, FakeDiscord(RULES, world) as discord:
        terms = {"chairman": ["openai/a"], "audit_share": 0.0}
        home = home.with_settings(**discord.settings, COUNCIL_PORT=str(free_port()))
        home.with_config(served_panel(server.api_base, MEMBERS, **terms))
        crowd = _Crowd(home, discord, rng)
        async with _alive(home, discord, crowd.kills):
            work = asyncio.create_task(crowd.ask(at_once))
            count.amid += await _moment(discord, rng, life)
        while len(crowd.kills) < kills:
            async with _alive(home, discord, crowd.kills):
                count.amid += await _moment(discord, rng, life)
        count.kills = list(crowd.kills)
        crowd.may_end.set()
        async with _alive(home, discord, crowd.kills):
            await work
            await discord.until(lambda: not home.sql(UNTOLD), PATIENCE_SECONDS)
        crowd.look(count)
        count.ages = server.bill.again(count.kills)
        count.calls = server.bill.total
    return count


async def _moment(discord: FakeDiscord, rng: random.Random, life: float) -> bool:
    """Wait until it is time to die; say whether that is between a deed and its reply."""
    if rng.random() < 0.5:
        await asyncio.sleep(rng.uniform(0, life))
        return False
    pattern = rng.choice(MOMENTS)
    done = len(discord.called(pattern)) + rng.randrange(4)
    with suppress(AssertionError):
        await discord.until(lambda: len(discord.called(pattern)) >= done, life)
        discord.trouble(pattern, Slow(60.0))
        await discord.until(lambda: discord.called(pattern)[done:], life)
        return discord.called(pattern)[-1].outcome.startswith("2")
    discord.state.troubles.clear()
    return False


class _Crowd:
    """People who ask numbered questions, in channels and alone with the bot."""

    def __init__(self, home: Home, discord: FakeDiscord, rng: random.Random) -> None:
        self.may_end = asyncio.Event()
        self.kills: list[float] = []
        self._home = home
        self._discord = discord
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
            text = f"What now? [round {number}]"
            while not self._is_told(text):
                life = await self._say(text)
                await self._until_told_or_lost(text, life)

    async def _until_told_or_lost(self, text: str, life: int) -> None:
        """Wait for an answer; a question that a kill came before was not taken in."""
        while not self._is_told(text):
            await asyncio.sleep(0.02)
            if life != len(self.kills) and not self._is_kept(text):
                return

    async def _say(self, text: str) -> int:
        """Ask, and give the product's life in which that was."""
        await self._discord.connected(PATIENCE_SECONDS)
        life = len(self.kills)
        user = self._rng.choice(PEOPLE)
        if self._rng.random() < 0.3:
            self._discord.direct_message(user, text)
            return life
        place = f"S{self._rng.randrange(PLACES)}"
        await self._discord.slash(user, place, "council ask", question=text)
        return life

    def _is_kept(self, text: str) -> bool:
        return bool(self._home.sql("SELECT 1 FROM round WHERE question = ?", text))

    def _is_told(self, text: str) -> bool:
        """Say whether the answer to a question stands anywhere."""
        return any(
            text in m.text.replace("\\", "") and "council:answers" in str(m.components)
            for m in self._roots()
        )

    def _roots(self) -> Iterator[Message]:
        for channel in self._discord.world.channels.values():
            if not channel.is_thread:
                yield from (m for m in reversed(channel.said) if m.author is self._discord.bot)

    def look(self, count: Count) -> None:
        """See every round as people do."""
        count.asked = self._asked
        rows = self._home.sql("SELECT id, workspace, channel FROM round")
        count.rounds = len(rows)
        count.lost += max(0, self._asked - len(rows))
        count.duplicates += max(0, len(rows) - self._asked)
        for row in rows:
            self._look_at(row, count)

    def _look_at(self, row: tuple[str, str, str], count: Count) -> None:
        round_id, workspace, channel = row
        start = f"discord/{workspace}/{channel}/{round_id}/"
        names = [*map(str, range(REPLIES + 1)), f"council-{round_id}.md"]
        marks = {mark_of(start + name): name for name in names}
        parts: list[str] = []
        for message in _all_in(self._discord.channel(channel)):
            shown = str(message.components)
            if f":{round_id}'" in shown:  # its buttons; the mark goes with the first edit
                parts.append("0")
                count.answers += f"council:answers:{round_id}" in shown
            elif message.components and message.components[0]["id"] in marks:
                parts.append(marks[message.components[0]["id"]])
        count.roots += parts.count("0")
        count.files += parts.count(names[-1])
        count.replies += len([part for part in parts if part in names[1:-1]])
        count.duplicates += len(parts) - len(set(parts))
        count.lost += len(set(names) - set(parts))
        count.out_of_order += list(dict.fromkeys(parts)) != [p for p in names if p in parts]


def _all_in(channel: Channel) -> Iterator[Message]:
    """Give what is said in a channel, each message with the thread under it."""
    for message in channel.said:
        yield message
        yield from message.thread.said if message.thread else ()


@asynccontextmanager
async def _alive(home: Home, discord: FakeDiscord, kills: list[float]) -> AsyncIterator[None]:
    """Run the product from when Discord has its link until the block ends, then kill it."""
    process = await home.started("serve")
    try:
        await discord.connected(seconds=60)
        yield
    finally:
        process.kill()
        killed = time.time()
        await process.communicate()
        discord.gateway.cut()
        discord.gateway.forget_sessions()
        kills.append(killed)


def main() -> None:
    """Run a soak, print its table, and fail where anything was lost or said or paid twice."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    kills, at_once = (int(os.environ.get(name, default)) for name, default in WANTED)
    with TemporaryDirectory(prefix="council-soak-") as folder:
        count = asyncio.run(soak(Home(Path(folder)), kills, at_once, seed=kills))
    sys.stdout.write(f"{count}\n")
    sys.exit(bool(count.wrong))


if __name__ == "__main__":
    main()
