"""Discord as long as the bot runs."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bot.bakeoffs.lifecycle import go_on_in
from bot.chat import Chat
from bot.commands.context import Desk
from bot.commands.recovery import ComingBack, Untold, left
from bot.coordination.tasks import Doing
from bot.discord.address import Address
from bot.discord.client import Client
from bot.discord.hearing import CHAT
from bot.discord.library_logs import hear_library
from bot.discord.preflight import ELSEWHERE, identity_of, let_in
from bot.discord.remembering import InFiles, InRows, Remembering
from bot.discord.servers import Servers
from bot.discord.shards import Ready, Shards
from bot.discord.whispers import nobody
from council.places import Place
from council.ports import Wanted


class Discord:
    """Discord from start to stop; `tell` hears how it stands, in a sentence."""

    def __init__(
        self, desk: Desk, address: Address, data_dir: Path, tell: Callable[[str], None]
    ) -> None:
        self._desk = desk
        self._address = address
        self._tell = tell
        self._kept: Remembering = InRows(desk.memos) if desk.works else InFiles(data_dir)
        self._coming_back = ComingBack("Discord", tell)
        leave = partial(left, desk, CHAT)
        self._servers = Servers(self._kept, leave, self._coming_back.say)

    async def run(self) -> None:
        """Serve until cancelled, or until Discord takes the token no more; told is why."""
        hear_library()
        self._address.point()
        if self._desk.works is None:
            await self._coming_back.serve(self._served)
            return
        ready = Ready(self._address, self._kept, self._tell, _tell_ready)
        await self._coming_back.serve(Shards(self._desk, self._desk.works, ready).served)

    async def _served(self) -> None:
        doing = Doing()
        client = Client(self._desk, doing, self._servers, self._kept)
        try:
            with let_in():
                async with client:
                    await client.login(self._address.token)
                    await self._heard(client, doing)
        finally:
            await doing.close()
            await self._desk.holds.let_go(CHAT)

    async def _heard(self, client: Client, doing: Doing) -> None:
        await self._desk.runner.resume((CHAT,))
        untold = Untold(self._desk, lambda: client.ears.chat(nobody), doing)
        # What is asked from now on is shown by whoever hears it.
        before = await untold.lines(Wanted(chats=(CHAT,)))

        def way(_: Place) -> Chat | None:
            return client.ears.chat(nobody)

        async def begin() -> None:
            await client.wait_until_ready()
            _tell_ready(self._coming_back, client)
            self._desk.ways[CHAT] = way
            await self._servers.seen(client)
            untold.tell(before)
            await go_on_in(self._desk, CHAT, way)

        telling = asyncio.create_task(begin())
        try:
            await client.connect()
        finally:
            telling.cancel()
            self._desk.ways.pop(CHAT, None)


def _tell_ready(coming_back: ComingBack, client: Client) -> None:
    guilds = ", ".join(guild.name for guild in client.guilds) or "no server yet"
    coming_back.heard(f"{client.user} is in {guilds}.")
    if identity_of(client).hears_elsewhere:
        coming_back.say(ELSEWHERE)
