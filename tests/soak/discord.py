"""Kill the product at random moments while people ask it in Discord, and count what stands there.

`KILLS=100 python -m tests.soak.discord`, or `make soak OF=discord KILLS=100`. What Discord does
against messages sent twice is switched off: the product has to know by itself.
"""

import asyncio
import random
from collections.abc import Iterator

from bot.discord.messages import nonce_of
from tests.bot.homes import Home, served_config
from tests.ports import free_port
from tests.soak.chats import (
    BY_QUESTION,
    LONGEST_LIFE_SECONDS,
    PATIENCE_SECONDS,
    PEOPLE,
    PLACES,
    REPLIES,
    TERMS,
    Count,
    Crowd,
    run,
    wanted_parts,
)
from tests.soak.paid import PaidServer
from tests.soak.soak import MEMBERS
from tests.wire.discord import Channel, FakeDiscord, Message, Rates, Rules
from tests.wire.discord.sample_world import add_channel, sample_world

MARGIN_SECONDS = 0.25  # making messages keeps the product's loop busy for so long
MOMENTS = ("POST /channels/*/messages", "PATCH /channels/*/messages/*", "POST /channels/*/threads")
RULES = Rules(identify_seconds=0, rates=Rates(off=True), ack_seconds=1.0, nonce_seconds=-1)


async def soak(
    home: Home, kills: int, at_once: int, seed: int, life: float = LONGEST_LIFE_SECONDS
) -> Count:
    """Ask questions in Discord, so many at once, with so many kills; count the answers there."""
    count, rng, world = Count(MARGIN_SECONDS), random.Random(seed), sample_world()
    for number in range(PLACES):
        add_channel(world, world.guild("G1"), f"S{number}", f"s{number}")
    async with PaidServer(latency=0.08) as server, FakeDiscord(RULES, world) as discord:
        home = home.with_settings(**discord.settings, COUNCIL_PORT=str(free_port()))
        home.with_config(served_config(server.api_base, MEMBERS, **TERMS))
        await _Crowd(home, discord, rng).soak(at_once, kills, life, MOMENTS, count)
        count.ages = server.bill.again(count.kills)
        count.calls = server.bill.total
    return count


class _Crowd(Crowd):
    """People in channels and alone with the bot; what a kill comes before is asked again."""

    def __init__(self, home: Home, discord: FakeDiscord, rng: random.Random) -> None:
        super().__init__(home, discord, rng)
        self._discord = discord

    async def ask_until_told(self, text: str) -> None:
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
        """Ask, and return the number of the process that received it."""
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
        return bool(self._home.sql(BY_QUESTION, text))

    def _is_told(self, text: str) -> bool:
        """Return whether an answer to the question stands; its buttons name the round."""
        if not self._home.database.exists():
            return False
        ids = [id_ for (id_,) in self._home.sql(BY_QUESTION, text)]
        return bool(ids) and any(
            f"council:answers:{ids[0]}" in str(m.components) for m in self._roots()
        )

    def _roots(self) -> Iterator[Message]:
        for channel in self._discord.world.channels.values():
            if not channel.is_thread:
                yield from (m for m in reversed(channel.said) if m.author is self._discord.bot)

    def disconnect(self) -> None:
        self._discord.gateway.cut()
        self._discord.gateway.forget_sessions()

    def look_at(self, round_id: str, place: str, count: Count) -> None:
        start = f"discord/{place}/{round_id}/"
        names = [*map(str, range(REPLIES + 1))]
        marks = {nonce_of(start + name): name for name in names}
        parts: list[str] = []
        for message in _all_in(self._discord.channel(place.rpartition("/")[2])):
            shown = str(message.components)
            if f":{round_id}'" in shown:  # its buttons; the mark goes with the first edit
                parts.append("0")
                count.answers += f"council:answers:{round_id}" in shown
            elif message.components and message.components[0]["id"] in marks:
                parts.append(marks[message.components[0]["id"]])
        has_thread = not place.startswith("/")  # direct messages have no workspace
        count.look_at(parts, wanted_parts(parts, has_thread=has_thread))


def _all_in(channel: Channel) -> Iterator[Message]:
    """Yield what is said in a channel, each message with the thread under it."""
    for message in channel.said:
        yield message
        yield from message.thread.said if message.thread else ()


if __name__ == "__main__":
    run(soak)
