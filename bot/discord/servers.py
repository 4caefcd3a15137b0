"""Which servers the bot is in: one that removes it takes its rounds along.

Those it was in when it was last seen are kept in a file, so that a removal while it was away is
known too. Rounds of any other server stay: they may have been asked of another application.
"""

import asyncio
from collections.abc import Awaitable, Callable, Set
from contextlib import suppress
from pathlib import Path

import aiohttp
import discord

from bot.discord.faults import NO_ACCESS, UNKNOWN_GUILD
from bot.render.figures import counted
from council.errors import StoreError

Leave = Callable[[str], Awaitable[int]]  # which lets a server's rounds go, and says how many


class Servers:
    """Lets the rounds of servers go that removed the bot; `say` tells the house of each."""

    def __init__(self, file: Path, leave: Leave, say: Callable[[str], None]) -> None:
        self._file = file
        self._leave = leave
        self._say = say
        self._turn = asyncio.Lock()

    async def seen(self, client: discord.Client) -> None:
        """Take note of the servers it is in; of those it was in before, the rounds go."""
        async with self._turn:
            here = _servers_of(client)
            for server in sorted(self._known(client) - here):
                if not (await _is_out(client, server) and await self._left(server, server)):
                    here |= {server}  # to be looked at again
            self._note(client, here)

    async def removed(self, client: discord.Client, guild: discord.Guild) -> None:
        """Let the rounds of a server go that has removed the bot just now."""
        server = str(guild.id)
        async with self._turn:
            known = self._known(client) | _servers_of(client)
            # Noted last: should the program end in between, it is made up for at the next start.
            if await self._left(server, guild.name):
                self._note(client, known - {server})

    async def _left(self, server: str, name: str) -> bool:
        """Let a server's rounds go; False where something of them is left."""
        try:
            rounds = await self._leave(server)
        except StoreError as error:
            self._say(f"The bot was removed from {name}, but not all of it is deleted: {error}")
            return False
        self._say(f"The bot was removed from {name}: {counted(rounds, 'round')} deleted.")
        return True

    def _known(self, client: discord.Client) -> Set[str]:
        """Give the servers this application was in; none where the file is another's, or gone."""
        try:
            application, *servers = self._file.read_text().split()
        except (OSError, ValueError):
            return frozenset()
        known = {server for server in servers if server.isdigit()}
        return known if application == str(client.application_id) else frozenset()

    def _note(self, client: discord.Client, servers: Set[str]) -> None:
        # Where that cannot be kept, rounds of a server that leaves meanwhile stay.
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text("\n".join([str(client.application_id), *sorted(servers), ""]))


def _servers_of(client: discord.Client) -> Set[str]:
    """Give the servers Discord says it is in, those too that are away for a while."""
    return {str(guild.id) for guild in client.guilds}


async def _is_out(client: discord.Client, server: str) -> bool:
    """Say whether Discord itself says that the bot is in a server no more."""
    try:
        await client.fetch_guild(int(server), with_counts=False)
    except (discord.DiscordException, aiohttp.ClientError, TimeoutError, OSError) as error:
        return getattr(error, "code", None) in {UNKNOWN_GUILD, NO_ACCESS}
    return False
