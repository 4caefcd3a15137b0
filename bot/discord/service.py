"""Discord as long as the bot runs."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.commands.desk import Desk
from bot.commands.untold import Untold
from bot.discord.client import Client
from bot.discord.hearing import CHAT
from bot.discord.whispers import nobody
from bot.doing import Doing
from council.errors import CouncilError
from council.ports import RoundLine, Wanted

LONGEST_PAUSE_SECONDS = 60.0
REFUSED = (
    "Discord: not started. DISCORD_TOKEN does not work: copy it anew from the Bot page of your "
    "application."
)


@dataclass(frozen=True, slots=True)
class Address:
    """How Discord is reached; empty addresses are Discord's own."""

    token: str
    api_url: str = ""
    gateway_url: str = ""


class Discord:
    """Discord from start to stop; `tell` hears how it stands, in a sentence."""

    def __init__(
        self, desk: Desk, address: Address, data_dir: Path, tell: Callable[[str], None]
    ) -> None:
        self._desk = desk
        self._address = address
        self._synced = data_dir / "discord-commands"
        self._tell = tell
        # The library has no other way to be pointed at a server of one's own.
        if address.api_url:
            Route.BASE = address.api_url.rstrip("/")
        if address.gateway_url:
            DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(address.gateway_url)

    async def run(self) -> None:
        """Serve until cancelled, or until Discord takes the token no more; told is why."""
        pause = 1.0
        while True:
            try:
                await self._served()
            except discord.LoginFailure:
                self._tell(REFUSED)
                return
            except CouncilError as error:
                self._tell(f"Discord: not started. {error}")
                return
            except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
                why = type(error).__name__
                self._tell(f"Discord: cannot be reached ({why}). The next try is in {pause:.0f} s.")
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE_SECONDS, 2 * pause)

    async def _served(self) -> None:
        await self._desk.runner.resume((CHAT,))
        doing = Doing()
        client = Client(self._desk, doing, self._synced)
        untold = Untold(self._desk, lambda: client.ears.chat(nobody), doing)
        # What is asked from now on is shown by whoever hears it.
        before = await untold.lines(Wanted(chats=(CHAT,)))
        telling = asyncio.create_task(self._told_when_ready(client, untold, before))
        try:
            async with client:
                await client.start(self._address.token)
        finally:
            telling.cancel()
            await doing.close()

    async def _told_when_ready(
        self, client: Client, untold: Untold, before: Sequence[RoundLine]
    ) -> None:
        await client.wait_until_ready()
        guilds = ", ".join(guild.name for guild in client.guilds) or "no server yet"
        self._tell(f"Discord: {client.user} is in {guilds}.")
        untold.tell(before)
