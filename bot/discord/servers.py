"""Servers (guilds) that the bot is in: shards, their store, and clean-up after a removal."""

import asyncio
from collections.abc import Callable, Set

import aiohttp
import discord

from bot.commands.recovery import delete_workspace
from bot.context import AppContext
from bot.discord.errors import NO_ACCESS, UNKNOWN_GUILD
from bot.discord.shards import CHAT, ONLY_SHARD, Shard
from bot.render.formatting import count_noun
from council.errors import StoreError

SERVER = "discord server"  # the kind of memo


class ServerTracker:
    """Tracks the servers of a shard and deletes the rounds of those that remove the bot.

    They are stored with one memo for each, so that shards do not overwrite each other. `report`
    receives a sentence for each removal.
    """

    def __init__(
        self, app: AppContext, report: Callable[[str], None], shard: Shard = ONLY_SHARD
    ) -> None:
        self._app = app
        self._report = report
        self.shard = shard
        self._lock = asyncio.Lock()

    async def sync(self, client: discord.Client) -> None:
        """Store the current servers; delete the rounds of those that removed the bot."""
        async with self._lock:
            known, current = await self._known_servers(client), _current_servers(client)
            for server in sorted(known - current):
                if not (await _is_removed(client, server) and await self._delete(server, server)):
                    current |= {server}  # checked again by the next sync
            await self._store(client, known, current)

    async def on_removed(self, client: discord.Client, guild: discord.Guild) -> None:
        """Delete the rounds of a server that has just removed the bot."""
        server = str(guild.id)
        async with self._lock:
            before = await self._known_servers(client)
            known = before | _current_servers(client)
            # Stored last: if the program stops in between, the next sync deletes the rounds.
            if await self._delete(server, guild.name):
                await self._store(client, before, known - {server})

    async def _known_servers(self, client: discord.Client) -> Set[str]:
        start = f"{client.application_id}/"
        names = await self._app.key_values.list_texts(SERVER, start)
        return {server for name in names if self.shard.serves(server := name.removeprefix(start))}

    async def _store(self, client: discord.Client, before: Set[str], now: Set[str]) -> None:
        for server in sorted(now - before):
            await self._app.key_values.put(SERVER, f"{client.application_id}/{server}", "")
        for server in sorted(before - now):
            await self._app.key_values.pop(SERVER, f"{client.application_id}/{server}")

    async def _delete(self, server: str, name: str) -> bool:
        """Delete a server's rounds; return False if some are left."""
        try:
            rounds = await delete_workspace(self._app, CHAT, server)
        except StoreError as error:
            self._report(
                f"The bot was removed from {name}, but some of its data could not be "
                f"deleted: {error}"
            )
            return False
        self._report(f"The bot was removed from {name}: {count_noun(rounds, 'round')} deleted.")
        return True


def _current_servers(client: discord.Client) -> Set[str]:
    """Return the servers that Discord lists, including those with an outage."""
    return {str(guild.id) for guild in client.guilds}


async def _is_removed(client: discord.Client, server: str) -> bool:
    try:
        await client.fetch_guild(int(server), with_counts=False)
    except (discord.DiscordException, aiohttp.ClientError, TimeoutError, OSError) as error:
        return getattr(error, "code", None) in {UNKNOWN_GUILD, NO_ACCESS}
    return False
