"""A stock discord.py bot on a fake Discord, for the tests of the fake."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.wire.discord import FakeDiscord, Installation, Rates, Rules
from tests.wire.discord.openapi_check import Referee

RULES = Rules(ack_seconds=0.5, identify_seconds=0.0, rates=Rates(off=True))
Interaction = discord.Interaction[Any]
Do = Callable[[Interaction], Awaitable[None]]


class Bot(discord.Client):
    """A client with a command tree that records events, messages and errors."""

    def __init__(self, intents: discord.Intents | None = None) -> None:
        super().__init__(
            intents=intents or discord.Intents(guilds=True, messages=True),
            guild_ready_timeout=0.05,
            max_messages=None,
        )
        self.tree = app_commands.CommandTree(self)
        self.tree.error(self._failed)
        self.errors: list[Exception] = []
        self.received: list[discord.Message] = []
        self.events: list[str] = []

    async def _failed(self, _: Interaction, error: app_commands.AppCommandError) -> None:
        self.errors.append(getattr(error, "original", error))

    async def on_message(self, message: discord.Message) -> None:
        self.received.append(message)

    async def on_socket_event_type(self, name: str) -> None:
        self.events.append(name)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait for nothing between two IDENTIFYs; the fake's rules allow it."""


def council(do: Do) -> app_commands.Group:
    """Return a group /council with one command, ask, and its handler."""
    group = app_commands.Group(name="council", description="Ask the council")

    @group.command(name="ask", description="Ask")
    @app_commands.describe(question="What to ask", attachment="A text")
    async def ask(
        interaction: Interaction, question: str, attachment: discord.Attachment | None = None
    ) -> None:
        interaction.extras |= {"question": question, "attachment": attachment}
        await do(interaction)

    return group


@asynccontextmanager
async def judged(
    rules: Rules = RULES, app: Installation | None = None
) -> AsyncIterator[FakeDiscord]:
    """Run a fake; then check all that it granted against the OpenAPI document, if available."""
    async with FakeDiscord(rules, app=app) as fake:
        yield fake
        referee = Referee.at_hand()
        granted = [call for call in fake.calls if 200 <= call.status < 300]
        faults = [fault for call in granted if referee for fault in referee.faults_of(call)]
        assert not faults, "\n".join(faults)


@asynccontextmanager
async def running(fake: FakeDiscord, bot: Bot, *, sync: bool = True) -> AsyncIterator[Bot]:
    """Run a bot against a fake until the block ends."""
    logging.getLogger("discord").setLevel(logging.CRITICAL)
    old = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = fake.api_url, yarl.URL(fake.gateway_url)
    await bot.login(fake.token)
    if sync:
        await bot.tree.sync()
    work = asyncio.create_task(bot.connect())
    try:
        await _ready(bot, work)
        await fake.connected()
        yield bot
    finally:
        await bot.close()
        await asyncio.gather(work, return_exceptions=True)
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = old


async def _ready(bot: Bot, work: asyncio.Task[None]) -> None:
    """Wait until the bot is ready; raise its error if it ends before."""
    ready = asyncio.create_task(bot.wait_until_ready())
    await asyncio.wait({ready, work}, return_when=asyncio.FIRST_COMPLETED)
    if work.done():
        ready.cancel()
        await work
