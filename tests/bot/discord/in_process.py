"""The service inside this process beside a fake Discord, for troubles that need no process's death.

Everything is the product's own but models and database; waits of the outbox are short. Each test
has a channel and a person of its own, so that many can share one service.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from bot.commands.context import AppContext
from bot.coordination.clock import now
from bot.discord.app import Discord
from bot.discord.config import Address
from bot.discord.messages import mark_of
from bot.outbox import Outbox
from council.ports import RoundSummary
from storage.memory import MemoryOutbox
from tests.bot.desks import an_app
from tests.bot.discord.story import QUICK, part
from tests.bot.slack.inside import HeldGateway, quickly
from tests.wire.discord import Channel, Deed, FakeDiscord, Member, Message, Permission, Slow, User
from tests.wire.discord.permissions import NOTHING
from tests.wire.discord.sample_world import add_channel, add_user

MOST_PARTS = 12
_NUMBERS = count(1)


@dataclass(slots=True)
class Inside:
    """A running service, what it has told, a place in it and somebody who asks there."""

    app: AppContext
    gateway: HeldGateway
    discord: FakeDiscord
    place: Channel
    person: User
    told: list[str]

    def anew(self) -> "Inside":
        """Give the same service for another test: another place, another person, silent models."""
        self.gateway.goes_on.clear()
        self.gateway.asked.clear()
        self.discord.calm()
        self.discord.faults.clear()
        return replace(self, place=_place(self.discord), person=_person(self.discord))

    async def asks(self, where: Channel | None = None) -> Message:
        """Have the person ask, and give the root that shows progress."""
        where = where or self.place
        await self.command(where)
        await self.discord.until(lambda: self.ours(where), 30)
        return self.ours(where)[-1]

    async def command(self, where: Channel | None = None) -> Deed:
        """Have the person ask, whatever comes of it."""
        return await self.discord.slash(
            self.person, where or self.place, "council ask", question="Which queue?"
        )

    def permit(self, deny: Permission = NOTHING) -> None:
        """Take permissions in the place from the bot."""
        self.discord.permit(self.place, deny=deny)

    def go_on(self) -> None:
        """Let the models reply."""
        self.gateway.goes_on.set()

    async def goes_on_until_mid_thread(self, root: Message) -> None:
        """Let the models reply, and stop where the thread holds the first of its messages."""
        posts = "POST /channels/*/messages"
        self.discord.trouble(posts, Slow(0), times=2)  # no thread yet, and the first in it
        self.discord.trouble(posts, Slow(0.2, before=True))
        self.go_on()
        await self.discord.until(lambda: root.thread and root.thread.said)

    def ours(self, where: Channel | None = None) -> list[Message]:
        """Give what we said in the place for everyone."""
        said = (where or self.place).said
        return [m for m in said if m.author is self.discord.bot and not m.ephemeral_to]

    async def line(self) -> RoundSummary:
        """Give the round that the person asked for."""
        lines = await self.app.store.recent()
        (own,) = [line for line in lines if line.asked_by == self.person.id]
        return own

    async def delivered(self, seconds: float = 40.0) -> None:
        """Wait until all there is to say of the round has been said."""
        end = asyncio.get_running_loop().time() + seconds
        while not (await self.line()).delivered:
            last = [str(call) for call in self.discord.calls[-8:]]
            assert asyncio.get_running_loop().time() < end, last
            await asyncio.sleep(0.01)

    async def is_one_whole_round(self) -> None:
        """See that the place holds one answer, and under it everything once and in order."""
        await self.delivered()
        (root,) = self.ours()
        assert part(root, "answers")
        line = await self.line()
        start = f"discord/{line.place.workspace}/{line.place.channel}/{line.id}/"
        known = {mark_of(f"{start}{number}"): number for number in range(1, MOST_PARTS)}
        thread = self.discord.thread_of(root).said
        *numbered, last = [message.components[0]["id"] for message in thread]
        # Two tables, and an answer of each member.
        assert [known[mark] for mark in numbered] == [1, 2, 3, 4, 5]
        assert last == mark_of(f"{start}council-{line.id}.md")
        assert [len(message.files) for message in thread] == [0, 0, 0, 0, 0, 1]

    def whispers(self) -> str:
        """Give all that the person alone was told, wherever it was."""
        discord = self.discord
        messages = [*discord.ephemerals(self.person), *discord.direct(self.person)]
        return "\n".join(message.text for message in messages)

    async def presses(self, root: Message, action: str, said: str) -> None:
        """Have the person press a button, and wait until they are told this."""
        deed = await self.discord.click(root, part(root, action), self.person)
        assert deed.accepted
        await self.discord.until(lambda: said in self.whispers())


def _place(discord: FakeDiscord) -> Channel:
    name = f"n{next(_NUMBERS)}"
    place = add_channel(discord.world, discord.world.guild("G1"), name.upper(), name)
    discord.permit(place)  # which tells the bot of the channel
    return place


def _person(discord: FakeDiscord) -> User:
    person = add_user(discord.world, f"P{next(_NUMBERS)}", "pat")
    discord.world.guild("G1").members[person.id] = Member(person)
    return person


@asynccontextmanager
async def inside(folder: Path, discord: FakeDiscord | None = None) -> AsyncIterator[Inside]:
    """Run the service until the block ends."""
    discord, gateway = discord or FakeDiscord(QUICK), HeldGateway()
    app = an_app(gateway)
    app.outbox = Outbox(MemoryOutbox(), now, quickly, alone=True)
    told: list[str] = []
    async with discord:
        address = Address(discord.token, discord.api_url, discord.gateway_url)
        running = asyncio.create_task(Discord(app, address, folder, told.append).run())
        try:
            await discord.until(lambda: told, 20)
            yield Inside(app, gateway, discord, _place(discord), _person(discord), told)
        finally:
            running.cancel()
            gateway.goes_on.set()
            await asyncio.gather(running, return_exceptions=True)
            for line in await app.store.recent():
                await app.runner.stop(line.id)
