"""The product as a process next to a fake Slack, over either transport."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.bot.homes import Home, scripted_config
from tests.bot.running import serving
from tests.ports import free_port
from tests.wire.slack import FakeSlack, Message

Transport = Literal["socket", "http"]


@dataclass(slots=True)
class RunningProduct:
    """A running product: its home, its Slack and its process."""

    home: Home
    slack: FakeSlack
    process: asyncio.subprocess.Process

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()

    async def wait_for_answer(self, channel: str, at: int = -1) -> Message:
        """Wait until a message of the bot in a channel is an answer, and return it."""
        await self.slack.until(lambda: is_answer(self._bot_messages(channel), at), 60)
        return self._bot_messages(channel)[at]

    def _bot_messages(self, channel: str) -> list[Message]:
        return [m for m in self.slack.messages(channel) if m.payload.get("bot_id")]

    async def wait_for_thread(self, channel: str, root: Message) -> list[Message]:
        """Wait for a round's whole thread, the results and the rankings, and return it."""
        await self.slack.until(lambda: len(self.slack.thread(channel, root.ts)) == REPLIES, 60)
        return self.slack.thread(channel, root.ts)


REPLIES = 1  # of a round: the results with the rankings


def is_answer(messages: list[Message], at: int = -1) -> bool:
    try:
        return "council:answers" in str(messages[at].blocks)
    except IndexError:
        return False


def slack_environment(slack: FakeSlack, transport: Transport) -> dict[str, str]:
    app = slack.state.app
    told = {"SLACK_BOT_TOKEN": app.bot_token, "SLACK_API_URL": slack.api_url}
    if transport == "socket":
        return {**told, "SLACK_APP_TOKEN": app.app_token}
    return {**told, "SLACK_SIGNING_SECRET": app.signing_secret}


@asynccontextmanager
async def serve_slack(
    folder: Path,
    slack: FakeSlack,
    transport: Transport = "socket",
    config: str | None = None,
    *,
    fresh: bool = False,
) -> AsyncIterator[RunningProduct]:
    port = str(free_port())
    home = Home(folder, {**slack_environment(slack, transport), "COUNCIL_PORT": port})
    home.with_config(config or scripted_config(4)).with_tables()
    async with serving(home, fresh=fresh) as run:
        if transport == "http":
            slack.request_url.address = f"http://127.0.0.1:{port}/slack/events"
        await run.says("Slack: in ")
        if transport == "socket":
            await slack.connected()
        yield RunningProduct(home, slack, run.process)
