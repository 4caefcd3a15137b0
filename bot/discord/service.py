"""Discord as long as the bot runs."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from bot.bakeoffs.resuming import go_on_in
from bot.chat import Chat, UnsureError
from bot.commands.desk import Desk
from bot.commands.untold import Untold
from bot.discord.address import Address
from bot.discord.client import Client
from bot.discord.hearing import CHAT
from bot.discord.library_logs import hear_library
from bot.discord.preflight import ELSEWHERE, identity_of, let_in
from bot.discord.whispers import nobody
from bot.doing import Doing
from bot.logs import unforeseen
from council.errors import CouncilError
from council.places import Place
from council.ports import Wanted

LONGEST_PAUSE_SECONDS = 60.0


class Discord:
    """Discord from start to stop; `tell` hears how it stands, in a sentence."""

    def __init__(
        self, desk: Desk, address: Address, data_dir: Path, tell: Callable[[str], None]
    ) -> None:
        self._desk = desk
        self._address = address
        self._synced = data_dir / "discord-commands"
        self._tell = tell
        self._pause = 1.0
        self._hears = False

    async def run(self) -> None:
        """Serve until cancelled, or until Discord takes the token no more; told is why."""
        hear_library()
        self._address.point()
        while True:
            why = "The connection ended."
            try:
                await self._served()
            except UnsureError as error:
                why = str(error)
            except CouncilError as error:
                self._tell(f"Discord: {'stopped' if self._hears else 'not started'}. {error}")
                return
            # The outermost handler: Discord comes back, and the page goes on.
            except Exception as error:  # noqa: BLE001
                why = unforeseen("discord_failed", error)
            self._tell(f"Discord: {why} The next try is in {self._pause:.0f} s.")
            await asyncio.sleep(self._pause)
            self._pause = min(LONGEST_PAUSE_SECONDS, 2 * self._pause)

    async def _served(self) -> None:
        doing = Doing()
        client = Client(self._desk, doing, self._synced)
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
            self._tell_ready(client)
            self._desk.ways[CHAT] = way
            untold.tell(before)
            await go_on_in(self._desk, CHAT, way)

        telling = asyncio.create_task(begin())
        try:
            await client.connect()
        finally:
            telling.cancel()
            self._desk.ways.pop(CHAT, None)

    def _tell_ready(self, client: Client) -> None:
        self._hears, self._pause = True, 1.0
        guilds = ", ".join(guild.name for guild in client.guilds) or "no server yet"
        self._tell(f"Discord: {client.user} is in {guilds}.")
        if identity_of(client).hears_elsewhere:
            self._tell(f"Discord: {ELSEWHERE}")
