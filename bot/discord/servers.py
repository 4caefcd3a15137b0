"""A shard: the part of all servers that one connection to Discord hears of."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import aiohttp
import discord

from bot.discord.errors import NO_ACCESS, UNKNOWN_GUILD
from bot.ports import shard_of
from bot.render.formatting import counted
from council.errors import StoreError
from council.ports import KeyValueStore

# --- A shard: the part of all servers that one connection to Discord hears of.

_NAME = re.compile(r"(\d{1,4})/(\d{1,4})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The shard of this number, from 0 on, among so many."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def read(cls, name: str) -> "Shard | None":
        """Read "K/N"; None for what is no shard."""
        found = _NAME.fullmatch(name)
        if found is None or int(found[1]) >= int(found[2]):
            return None
        return cls(int(found[1]), int(found[2]))

    def hears(self, server: str) -> bool:
        """Say whether it hears of a server; "" are direct messages."""
        return shard_of(server, self.of) == self.number


WHOLE = Shard(0, 1)  # all there is


# --- What is remembered of an application in Discord: its servers, and its registered commands.

SERVER, COMMANDS = "discord server", "discord commands"  # the kinds of memo


class ServerStore(Protocol):
    """Where it is kept."""

    async def commands(self, application: str) -> str:
        """Give what tells the registered commands from any other; "" where that is not known."""
        ...

    async def register(self, application: str, digest: str) -> None:
        """Note which commands are registered."""
        ...

    async def servers(self, application: str) -> Set[str]:
        """Give the servers the application was in; none where that is not known."""
        ...

    async def note(self, application: str, before: Set[str], now: Set[str]) -> None:
        """Note that it is in these servers now, where it was in others before."""
        ...


class FileServerStore:
    """In files; where one cannot be written, as if nothing had been known before."""

    def __init__(self, folder: Path) -> None:
        self._commands = folder / "discord-commands"
        self._servers = folder / "discord-servers"

    async def commands(self, application: str) -> str:
        """Give what tells the registered commands from any other; "" where that is not known."""
        try:
            return self._commands.read_text()
        except (OSError, ValueError):
            return ""

    async def register(self, application: str, digest: str) -> None:
        """Note which commands are registered."""
        _written(self._commands, digest)

    async def servers(self, application: str) -> Set[str]:
        """Give the servers the application was in; none where the file is another's, or gone."""
        try:
            whose, *servers = self._servers.read_text().split()
        except (OSError, ValueError):
            return frozenset()
        known = {server for server in servers if server.isdigit()}
        return known if whose == application else frozenset()

    async def note(self, application: str, before: Set[str], now: Set[str]) -> None:
        """Note that it is in these servers now, where it was in others before."""
        _written(self._servers, "\n".join([application, *sorted(now), ""]))


def _written(file: Path, text: str) -> None:
    # Commands are registered again then; rounds of a server that leaves meanwhile stay.
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class SqlServerStore:
    """In rows, one a server: whoever knows of one server says nothing of the others."""

    def __init__(self, memos: KeyValueStore) -> None:
        self._memos = memos

    async def commands(self, application: str) -> str:
        """Give what tells the registered commands from any other; "" where that is not known."""
        return await self._memos.read(COMMANDS, application) or ""

    async def register(self, application: str, digest: str) -> None:
        """Note which commands are registered."""
        await self._memos.note(COMMANDS, application, digest)

    async def servers(self, application: str) -> Set[str]:
        """Give the servers the application was in, as any process has seen it."""
        start = f"{application}/"
        return {name.removeprefix(start) for name in await self._memos.every(SERVER, start)}

    async def note(self, application: str, before: Set[str], now: Set[str]) -> None:
        """Note that it is in these servers now, where it was in others before."""
        for server in sorted(now - before):
            await self._memos.note(SERVER, f"{application}/{server}", "")
        for server in sorted(before - now):
            await self._memos.take(SERVER, f"{application}/{server}")


# --- Which servers the bot is in: one that removes it takes its rounds along.

Leave = Callable[[str], Awaitable[int]]  # which lets a server's rounds go, and says how many


class Servers:
    """Lets the rounds of servers go that removed the bot; `say` tells the house of each.

    It looks after the servers of one shard.
    """

    def __init__(
        self, kept: ServerStore, leave: Leave, say: Callable[[str], None], shard: Shard = WHOLE
    ) -> None:
        self._kept = kept
        self._leave = leave
        self._say = say
        self._shard = shard
        self._turn = asyncio.Lock()

    async def latest(self, client: discord.Client) -> None:
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
