"""Slack in this process next to a fake Slack, for failures that need no kill of a process.

Only the models and the database are fakes; the outbox waits for shorter times.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.context import AppContext
from bot.coordination.clock import now
from bot.outbox import Outbox
from bot.slack.app import Slack
from bot.slack.config import Tokens
from bot.slack.workspace import SlackLimits
from tests.bot.app_fakes import an_app, sleep_scaled
from tests.fakes.gateway import BlockedGateway
from tests.fakes.memory_outbox import MemoryOutbox
from tests.wire.slack import BOT, FakeSlack, Message, Rates, Rules
from tests.wire.slack.state import SCOPES, Installation

NO_RATES = Rates(off=True)
# On a busy machine the loop stands still for a while: a missed ping is not a broken socket.
FAST_LIMITS = SlackLimits(
    ping_seconds=60.0, late_seconds=0.3, edit_seconds=0.1, posts_at_once=100, posts_a_second=100
)


@dataclass(slots=True)
class RunningSlack:
    """A running Slack with its fakes; `reports` are the sentences about its state."""

    app: AppContext
    gateway: BlockedGateway
    slack: FakeSlack
    reports: list[str]
    running: asyncio.Task[None]

    async def ask(self, channel: str = "C1", user: str = "U1") -> Message:
        before = len(self.bot_messages(channel))
        await self.slack.command(user, channel, "/council", "Which queue?")
        await self.slack.until(lambda: len(self.bot_messages(channel)) > before)
        return self.bot_messages(channel)[-1]

    def release_models(self) -> None:
        self.gateway.goes_on.set()

    def bot_messages(self, channel: str = "C1") -> list[Message]:
        return [m for m in self.slack.messages(channel) if m.user == BOT]

    async def wait_until_delivered(self, seconds: float = 20.0) -> None:
        end = asyncio.get_running_loop().time() + seconds
        while not all(line.delivered for line in await self.app.store.list_summaries()):
            last = [f"{call.method}: {call.outcome}" for call in self.slack.calls[-8:]]
            assert asyncio.get_running_loop().time() < end, last
            await asyncio.sleep(0.01)

    async def assert_one_whole_round(self, channel: str = "C1") -> None:
        """Assert that a channel has one answer, and its thread every part once and in order."""
        await self.wait_until_delivered()
        (root,) = self.bot_messages(channel)
        assert "council:answers" in str(root.blocks)
        self.assert_thread_is_whole(root)

    def assert_thread_is_whole(self, root: Message) -> None:
        """Assert that the thread has the results with the rankings, once."""
        thread = self.slack.thread(root.channel, root.ts)
        keys = [part_number(message) for message in thread if message.metadata]
        assert keys == ["1"]

    def direct_texts(self, user: str = "U1") -> list[str]:
        return [text_of(message) for message in self.slack.direct(user)]


def part_number(message: Message) -> str:
    assert message.metadata
    return str(message.metadata["event_payload"]["key"]).rpartition("/")[2]


def text_of(message: Message) -> str:
    return f"{message.text} {message.blocks}"


@asynccontextmanager
async def run_slack(
    slack: FakeSlack,
    gateway: BlockedGateway | None = None,
    app: AppContext | None = None,
    limits: SlackLimits = FAST_LIMITS,
) -> AsyncIterator[RunningSlack]:
    gateway = gateway or BlockedGateway()
    if app is None:
        app = an_app(gateway)
        app.outbox = Outbox(MemoryOutbox(), now, sleep_scaled, alone=True)
    installed, reports = slack.state.app, list[str]()
    tokens = Tokens(installed.bot_token, installed.app_token, "", slack.api_url)
    running = asyncio.create_task(Slack(app, tokens, reports.append, limits).run())
    try:
        await slack.connected()
        yield RunningSlack(app, gateway, slack, reports, running)
    finally:
        running.cancel()
        gateway.goes_on.set()
        await asyncio.gather(running, return_exceptions=True)
        for line in await app.store.list_summaries():
            await app.runner.stop(line.id)


def make_fake_slack(scopes: Sequence[str] = SCOPES, rates: Rates = NO_RATES) -> FakeSlack:
    return FakeSlack(rules=Rules(rates=rates), app=Installation(scopes=tuple(scopes)))
