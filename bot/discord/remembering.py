"""What is remembered of an application in Discord: its servers, and its registered commands.

One process keeps it in files of its data folder, the processes of a cluster in rows they share.
"""

from collections.abc import Set
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from council.ports import Memos

SERVER, COMMANDS = "discord server", "discord commands"  # the kinds of memo


class Remembering(Protocol):
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


class InFiles:
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


class InRows:
    """In rows, one a server: whoever knows of one server says nothing of the others."""

    def __init__(self, memos: Memos) -> None:
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
