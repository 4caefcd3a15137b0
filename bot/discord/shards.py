"""Discord in a cluster: each shard is heard by one process, and by another once that is gone.

Whoever hears a shard posts what is to be told there. The others stand by.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import discord

from bot.bakeoffs.lifecycle import Holding
from bot.chat import Chat, UnsureError
from bot.commands.context import Desk
from bot.commands.recovery import ComingBack, left
from bot.commands.round_delivery import Displaying
from bot.coordination.tasks import Doing, first_of
from bot.discord.address import Address
from bot.discord.client import Client
from bot.discord.hearing import CHAT
from bot.discord.preflight import INTENTS, PATIENCE_SECONDS, DiscordError, let_in
from bot.discord.remembering import Remembering
from bot.discord.servers import Servers
from bot.discord.shard import Shard
from bot.discord.whispers import nobody
from bot.ports import GATEWAY, Works
from council.places import Place
from council.ports import Wanted

SHARDS = "discord shards"  # the kind of memo
NEVER = "Shard {name} of Discord is heard no more by this process."
OTHERWISE = "Discord deals its servers out otherwise now."


@dataclass(frozen=True, slots=True)
class Ready:
    """Where Discord is reached, what is remembered of it, and who hears how it stands."""

    address: Address
    kept: Remembering
    tell: Callable[[str], None]
    tell_ready: Callable[[ComingBack, Client], None]


@dataclass(slots=True)
class Shards:
    """The shards that this process hears of, among those of all."""

    desk: Desk
    works: Works
    ready: Ready
    application: str = ""
    count: int = 1
    clients: dict[int, Client] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def served(self) -> None:
        """Hear what comes to this process until cancelled; UnsureError where all is dealt anew."""
        await self._agree()
        await self.desk.runner.resume((CHAT,))
        self.desk.ways[CHAT] = self.way
        try:
            async with self.works.serving(GATEWAY, self.hear, self.unheard, self.count):
                await self.changed.wait()
        finally:
            self.desk.ways.pop(CHAT, None)
        raise UnsureError(OTHERWISE)

    def way(self, place: Place) -> Chat | None:
        """Give the way to a place that this process hears of."""
        for number, client in self.clients.items():
            if Shard(number, self.count).hears(place.workspace):
                return client.ears.chat(nobody)
        return None

    async def _agree(self) -> None:
        """Have as many shards as Discord recommends, or more where it once did."""
        with let_in():
            async with asyncio.timeout(PATIENCE_SECONDS), discord.Client(intents=INTENTS) as client:
                await client.login(self.ready.address.token)
                wanted = await _recommended(client)
                self.application = str(client.application_id)
        before = int(await self.desk.memos.first(SHARDS, self.application, str(wanted)))
        if wanted > before:
            await self.desk.memos.note(SHARDS, self.application, str(wanted))
        self.changed.clear()
        self.count = self.desk.shards = max(wanted, before)

    async def unheard(self) -> list[str]:
        """Give the names of all shards; note where another process counts them otherwise."""
        kept = await self.desk.memos.read(SHARDS, self.application)
        if kept and int(kept) != self.count:
            self.changed.set()
        return [str(Shard(number, self.count)) for number in range(self.count)]

    async def hear(self, name: str) -> None:
        """Hear a shard until cancelled; raise DiscordError where Discord lets it in no more.

        One of another count is nobody's.
        """
        shard = Shard.read(name)
        if shard is None or shard.of != self.count:
            return
        named = "Discord" if shard.of == 1 else f"Discord {name}"
        coming_back = ComingBack(named, self.ready.tell)
        await coming_back.serve(partial(self._heard, shard, coming_back))
        raise DiscordError(NEVER.format(name=name))

    async def _heard(self, shard: Shard, coming_back: ComingBack) -> None:
        doing = Doing()
        kept = self.ready.kept
        servers = Servers(kept, partial(left, self.desk, CHAT), coming_back.say, shard)
        client = Client(self.desk, doing, servers, kept, shard)
        try:
            with let_in():
                async with client:
                    await client.login(self.ready.address.token)
                    await first_of(client.connect(), self._working(client, shard, coming_back))
        finally:
            self.clients.pop(shard.number, None)
            await doing.close()

    async def _working(self, client: Client, shard: Shard, coming_back: ComingBack) -> None:
        """Show rounds and hold bake-offs of a shard, once it is heard."""
        await client.wait_until_ready()
        self.ready.tell_ready(coming_back, client)
        self.clients[shard.number] = client
        teller = f"{CHAT} {shard}"
        told = (Wanted(chats=(CHAT,)), client.ears.chat, nobody)
        showing = Displaying(self.desk, teller, *told).serving(self.works)
        async with showing, Holding(self.desk, teller, self.way).serving(self.works):
            await asyncio.Event().wait()


async def _recommended(client: discord.Client) -> int:
    """Give how many shards Discord recommends."""
    try:
        wanted, *_ = await client.http.get_bot_gateway()
    except discord.GatewayNotFound:
        raise UnsureError("Discord does not say how its servers are dealt out.") from None
    return max(1, wanted)
