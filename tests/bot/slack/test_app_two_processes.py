"""Two processes serve one workspace: either receives events, either takes over."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bot.context import AppContext
from bot.coordination.tasks import running_alongside
from bot.slack.app import Slack
from bot.slack.config import INSTALL_PATH, Tokens
from bot.slack.middleware import NOT_INSTALLED
from storage.engine import open_engine
from storage.installations import SqlInstallationStore
from tests.bot.cluster_fakes import Board, processes
from tests.bot.slack.distributed import browser_of, distributed_fake, distributed_tokens
from tests.bot.slack.in_process import FAST_LIMITS, make_fake_slack
from tests.fakes.gateway import BlockedGateway
from tests.sqlite import new_file
from tests.wire.slack import BOT, FakeSlack, Message


@dataclass(slots=True)
class Processes:
    """Two processes on one Slack; each holds a socket."""

    board: Board
    apps: Sequence[AppContext]
    gateway: BlockedGateway
    slack: FakeSlack
    running: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self, app_context: AppContext) -> None:
        app = self.slack.state.app
        tokens = Tokens(app.bot_token, app.app_token, "", self.slack.api_url)
        self.running.append(
            asyncio.create_task(Slack(app_context, tokens, _ignore, FAST_LIMITS).run())
        )
        await self.slack.connected(len(self.running))

    async def stop(self, number: int) -> None:
        self.running[number].cancel()
        with suppress(asyncio.CancelledError):
            await self.running[number]

    def bot_messages(self, channel: str = "C1") -> list[Message]:
        return [message for message in self.slack.messages(channel) if message.user == BOT]

    def answers(self) -> list[Message]:
        return [one for one in self.bot_messages() if "council:answers" in str(one.blocks)]

    async def wait_until_delivered(self, rounds: int) -> None:
        async with asyncio.timeout(20):
            while True:
                lines = await self.apps[0].store.list_summaries()
                if len(lines) == rounds and all(line.delivered for line in lines):
                    return
                await asyncio.sleep(0.01)


def _ignore(_: str) -> None:
    """Ignore reports of the state."""


@asynccontextmanager
async def two() -> AsyncIterator[Processes]:
    gateway = BlockedGateway()
    board, apps = processes(2, gateway)
    async with make_fake_slack() as slack:
        found = Processes(board, apps, gateway, slack)
        try:
            for app_context in apps:
                await found.start(app_context)
            yield found
        finally:
            gateway.goes_on.set()
            for number in range(len(found.running)):
                await found.stop(number)
            for line in await apps[0].store.list_summaries():
                await apps[0].runner.stop(line.id)


async def test_either_process_receives_events_and_each_round_is_posted_once() -> None:
    async with two() as both:
        both.gateway.goes_on.set()

        deeds = [
            await both.slack.command("U1", "C1", "/council", f"Which queue? {n}") for n in range(6)
        ]
        await both.wait_until_delivered(6)

        assert all(deed.accepted for deed in deeds)
        assert len(both.answers()) == len(both.bot_messages()) == 6
        roots = {message.ts for message in both.bot_messages()}
        assert {len(both.slack.thread("C1", ts)) for ts in roots} == {1}


async def test_progress_continues_when_the_process_that_showed_it_ends() -> None:
    async with two() as both:
        await both.slack.command("U1", "C1", "/council", "Which queue?")
        await both.slack.until(both.bot_messages)
        shows = next(
            number
            for number, server in enumerate(
                one for one in both.board.servers if one.queue == "show slack"
            )
            if server.tasks
        )

        await both.stop(shows)
        both.gateway.goes_on.set()
        await both.wait_until_delivered(1)

        assert len(both.bot_messages()) == len(both.answers()) == 1
        assert len(both.board.begun) == 2


async def test_what_one_process_installs_or_uninstalls_every_process_knows(tmp_path: Path) -> None:
    gateway = BlockedGateway()
    gateway.goes_on.set()
    _, apps = processes(2, gateway)
    engine = open_engine(new_file(tmp_path))
    reports: list[str] = []
    async with distributed_fake() as slack, AsyncExitStack() as stack:
        tokens = distributed_tokens(slack)
        served = []
        for number, app in enumerate(apps, start=1):
            app.parts.add(SqlInstallationStore(engine, tokens.client_secret))
            served.append(Slack(app, tokens, reports.append, FAST_LIMITS))
            await stack.enter_async_context(running_alongside(served[-1].run()))
            await slack.connected(number)
        async with browser_of(served[0]) as browser:
            begun = await browser.get(INSTALL_PATH)
            await browser.get(slack.allow(begun.headers["location"]))

        for number in range(4):
            await slack.command("U1", "C1", "/council", f"Which queue, number {number}?")

        def answers() -> list[Message]:
            return [m for m in slack.messages("C1") if "council:answers" in str(m.blocks)]

        await slack.until(lambda: len(answers()) == 4, 20)
        await slack.uninstalls()
        await slack.until(lambda: sum("uninstalled from" in line for line in reports) == 2, 20)
        assert await apps[0].store.list_summaries() == ()
        for _ in range(2):
            await slack.command("U1", "C1", "/council", "And now?")
        refusals = [NOT_INSTALLED in message.text for message in slack.ephemerals("U1")]
        assert sum(refusals) == 2
    await engine.dispose()
