"""The bot as a process against a fake Discord."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bot.homes import Home, scripted_config
from tests.bot.running import serving
from tests.ports import free_port
from tests.wire.discord import FakeDiscord, Message

TIMEOUT_SECONDS = 60.0


@dataclass(slots=True)
class ProcessBot:
    """A running product: its home, and the Discord it talks to."""

    home: Home
    discord: FakeDiscord
    process: asyncio.subprocess.Process

    async def kill(self) -> None:
        """Kill it as a machine would."""
        self.process.kill()
        await self.process.wait()

    async def answered(self, channel: str, at: int = -1) -> Message:
        """Return a message of the bot with an answer, once it is there."""

        def answers() -> list[Message]:
            said = self.discord.said_by_bot(channel)
            return [message for message in said if "council:answers:" in str(message.components)]

        least = at + 1 if at >= 0 else -at
        await self.discord.until(lambda: len(answers()) >= least, TIMEOUT_SECONDS)
        return answers()[at]

    async def wait_for_thread(self, root: Message) -> list[Message]:
        """Return the messages of a round's thread once the last one, the rankings, is there."""

        def whole() -> bool:
            return root.thread is not None and any("Rankings" in m.text for m in root.thread.said)

        await self.discord.until(whole, TIMEOUT_SECONDS)
        return list(self.discord.thread_of(root).said)


@asynccontextmanager
async def run_process(
    folder: Path, discord: FakeDiscord, config: str | None = None, *, fresh: bool = False
) -> AsyncIterator[ProcessBot]:
    home = Home(folder, {**discord.settings, "COUNCIL_PORT": str(free_port())})
    home.with_config(config or scripted_config(4)).with_tables()
    async with serving(home, fresh=fresh) as run:
        await run.says("Discord: council")
        yield ProcessBot(home, discord, run.process)
