"""How soon Slack and Discord show something, with the platforms' own rate limits in force.

The product is a process, the chats are strict fakes: python -m tests.bench.chats [slack|discord]
"""

import argparse
import asyncio
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from tests.bot.discord.process import run_process
from tests.bot.homes import SERVED, two_panels_config
from tests.bot.slack.process import serve_slack
from tests.wire.discord import FakeDiscord, Rules
from tests.wire.discord.sample_world import add_channel
from tests.wire.models import ModelServer, Request, Say, by_role
from tests.wire.slack import BOT, Channel, FakeSlack

RUNNING, COMMANDS = 50, 200
FINISHING = 8
AT_ONCE = 20
_NUMBER = re.compile(r"\[(\d+)\]")


@dataclass(slots=True)
class Models:
    """Models that answer after a wait; and when the chairman of each question was asked."""

    server: ModelServer
    wait_seconds: float = 0.0
    synthesized: dict[int, float] = field(default_factory=dict)

    def follow_script(self) -> None:
        """Let every model wait before it answers; the chairman replies at once."""
        play = by_role(answer=self._answer, chairman=self._conclude)
        self.server.script |= dict.fromkeys(SERVED, play)

    def _answer(self, _: Request) -> Say:
        return Say("Use the one you have.", seconds=self.wait_seconds)

    def _conclude(self, request: Request) -> Say:
        for number in _NUMBER.findall(request.user):
            self.synthesized.setdefault(int(number), time.monotonic())
        return Say("The one you have, with a jobs table.")


class ChatUnderTest(ABC):
    """One chat with the product in it."""

    @abstractmethod
    def add_channel(self, name: str) -> str:
        """Open a channel with the bot in it."""

    @abstractmethod
    async def ask(self, channel: str, question: str) -> None:
        """Ask; return once it is acknowledged."""

    @abstractmethod
    async def say_rounds(self, channel: str) -> None:
        """Type a command that only reads; return once it is acknowledged."""

    @abstractmethod
    def posts(self, channel: str) -> list[str]:
        """Return the channel's messages of the bot, as text with their buttons."""


class SlackUnderTest(ChatUnderTest):
    def __init__(self, slack: FakeSlack) -> None:
        self._slack = slack

    def add_channel(self, name: str) -> str:
        id_ = f"C{name.upper()}"
        return self._slack.workspace.add_channel(Channel(id_, name, members={BOT, "U1"})).id

    async def ask(self, channel: str, question: str) -> None:
        deed = await self._slack.command("U1", channel, "/council", f"panel:served {question}")
        assert deed.accepted

    async def say_rounds(self, channel: str) -> None:
        assert (await self._slack.command("U1", channel, "/council", "rounds")).accepted

    def posts(self, channel: str) -> list[str]:
        return [str(message.blocks) for message in self._slack.messages(channel)]


class DiscordUnderTest(ChatUnderTest):
    def __init__(self, discord: FakeDiscord) -> None:
        self._discord = discord

    def add_channel(self, name: str) -> str:
        world = self._discord.world
        channel = add_channel(world, world.guild("G1"), name.upper(), name)
        self._discord.permit(channel)
        return name.upper()

    async def ask(self, channel: str, question: str) -> None:
        options = {"question": question, "panel": "served"}
        assert (await self._discord.slash("U1", channel, "council ask", **options)).accepted

    async def say_rounds(self, channel: str) -> None:
        assert (await self._discord.slash("U1", channel, "council rounds")).accepted

    def posts(self, channel: str) -> list[str]:
        return [str(message.components) for message in self._discord.said_by_bot(channel)]


@asynccontextmanager
async def run_chat(name: str, folder: Path, models: Models) -> AsyncIterator[ChatUnderTest]:
    """Run the product in a chat whose rate limits are those of the platform."""
    config = two_panels_config(models.server.api_base)
    if name == "slack":
        async with FakeSlack() as slack, serve_slack(folder, slack, config=config, fresh=True):
            yield SlackUnderTest(slack)
    else:
        rules = Rules(identify_seconds=0)
        async with FakeDiscord(rules) as discord, run_process(folder, discord, config, fresh=True):
            yield DiscordUnderTest(discord)


async def until(holds: Callable[[], bool], seconds: float) -> None:
    """Poll until a condition holds."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def timed(call: Awaitable[None]) -> float:
    began = time.monotonic()
    await call
    return time.monotonic() - began


async def acknowledgements(chat: ChatUnderTest, models: Models) -> list[str]:
    """Time questions and commands while many rounds run."""
    models.wait_seconds = 50.0
    channels = [chat.add_channel(f"busy{number}") for number in range(10)]
    asked = [
        timed(chat.ask(channels[n % len(channels)], f"Which queue? [{n}]")) for n in range(RUNNING)
    ]
    questions = await asyncio.gather(*asked)
    commands = []
    for _ in range(COMMANDS // 5):
        commands += await asyncio.gather(*(timed(chat.say_rounds(c)) for c in channels[:5]))
    return [
        f"questions, {RUNNING} at once: {spread(questions)}",
        f"commands while {RUNNING} rounds run: {spread(commands)}",
    ]


async def first_sign(chat: ChatUnderTest, models: Models) -> list[str]:
    """Time the first sign of a question while eight rounds of its channel post their threads."""
    models.wait_seconds = 12.0
    channel = chat.add_channel("busy")
    await asyncio.gather(
        *(chat.ask(channel, f"Which queue? [{100 + n}]") for n in range(FINISHING))
    )
    await until(lambda: "council:answers" in "".join(chat.posts(channel)), 60)
    models.wait_seconds = 0.0
    began = time.monotonic()
    reply = await timed(chat.ask(channel, "And now? [199]"))
    await until(lambda: "[199]" in "".join(chat.posts(channel)), 60)
    root = time.monotonic() - began
    return [f"private reply {reply:.2f} s, in the channel {root:.2f} s"]


async def last_answers(chat: ChatUnderTest, models: Models) -> list[str]:
    """Time from synthesis to answer, of twenty rounds in one channel."""
    models.wait_seconds = 2.0
    channel, shown = chat.add_channel("crowd"), dict[int, float]()
    numbers = range(200, 200 + AT_ONCE)
    await asyncio.gather(*(chat.ask(channel, f"Which queue? [{number}]") for number in numbers))

    def look() -> bool:
        for post in chat.posts(channel):
            found = _NUMBER.search(post)
            if found and "council:answers" in post:
                shown.setdefault(int(found[1]), time.monotonic())
        return len(shown) == AT_ONCE

    await until(look, 240)
    waits = [shown[number] - models.synthesized[number] for number in numbers]
    return [f"from synthesis to answer, {AT_ONCE} rounds in a channel: {spread(waits)}"]


def spread(seconds: list[float]) -> str:
    """Return the median, the 99th percentile and the longest."""
    parts = quantiles(seconds, n=100, method="inclusive")
    return f"median {parts[49]:.2f} s, p99 {parts[98]:.2f} s, longest {max(seconds):.2f} s"


async def measure(name: str) -> None:
    for measurement in (acknowledgements, first_sign, last_answers):
        with TemporaryDirectory() as folder:
            async with ModelServer() as server:
                models = Models(server)
                models.follow_script()
                async with run_chat(name, Path(folder), models) as chat:
                    for line in await measurement(chat, models):
                        print(f"{name:<8} {measurement.__name__:<16} {line}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chats", nargs="*", default=["slack", "discord"])
    for chosen in parser.parse_args().chats:
        asyncio.run(measure(chosen))
