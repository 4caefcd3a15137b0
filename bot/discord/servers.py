"""Which servers the bot is in: one that removes it takes its rounds along.

Those it was in when it was last seen are remembered, so that a removal while it was away is known
too. Rounds of any other server stay: they may have been asked of another application.
"""

import asyncio
from collections.abc import Awaitable, Callable, Set

import aiohttp
import discord

from bot.discord.faults import NO_ACCESS, UNKNOWN_GUILD
from bot.discord.remembering import Remembering
from bot.discord.shard import WHOLE, Shard
from bot.render.formatting import counted
from council.errors import StoreError

Leave = Callable[[str], Awaitable[int]]  # which lets a server's rounds go, and says how many


class Servers:
    """Lets the rounds of servers go that removed the bot; `say` tells the house of each.

    It looks after the servers of one shard.
    """

    def __init__(
        self, kept: Remembering, leave: Leave, say: Callable[[str], None], shard: Shard = WHOLE
    ) -> None:
        self._kept = kept
        self._leave = leave
        self._say = say
        self._shard = shard
        self._turn = asyncio.Lock()

    async def seen(self, client: discord.Client) -> None:
        """Take note of the servers it is in; of those it was in before, the rounds go."""
        async with self._turn:
            known, here = await self._known(client), _servers_of(client)
            for server in sorted(known - here):
                if not (await _is_out(client, server) and await self._left(server, server)):
                    here |= {server}  # to be looked at again
            await self._kept.note(str(client.application_id), known, here)

    async def removed(self, client: discord.Client, guild: discord.Guild) -> None:
        """Let the rounds of a server go that has removed the bot just now."""
        server = str(guild.id)
        async with self._turn:
            before = await self._known(client)
            known = before | _servers_of(client)
            # Noted last: should the program end in between, it is made up for at the next start.
            if await self._left(server, guild.name):
                await self._kept.note(str(client.application_id), before, known - {server})

    async def _known(self, client: discord.Client) -> Set[str]:
        servers = await self._kept.servers(str(client.application_id))
        return {server for server in servers if self._shard.hears(server)}

    async def _left(self, server: str, name: str) -> bool:
        """Let a server's rounds go; False where something of them is left."""
        try:
            rounds = await self._leave(server)
        except StoreError as error:
            self._say(f"The bot was removed from {name}, but not all of it is deleted: {error}")
            return False
        self._say(f"The bot was removed from {name}: {counted(rounds, 'round')} deleted.")
        return True


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
