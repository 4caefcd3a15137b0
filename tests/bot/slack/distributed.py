"""Slack in this process as a distributed app: several workspaces install it by its real routes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from starlette.applications import Starlette

from bot.access import Access
from bot.context import AppContext
from bot.coordination.clock import now
from bot.outbox import Outbox
from bot.slack.app import Slack
from bot.slack.config import INSTALL_PATH, REDIRECT_PATH, Tokens
from storage.engine import open_engine
from storage.installations import SqlInstallationStore
from tests.bot.app_fakes import an_app, sleep_scaled
from tests.bot.slack.in_process import FAST_LIMITS, NO_RATES, text_of
from tests.fakes.gateway import BlockedGateway
from tests.fakes.memory_outbox import MemoryOutbox
from tests.sqlite import new_file
from tests.wire.faults import until
from tests.wire.slack import FakeSlack, Installation, Message, Rules
from tests.wire.slack.driver import Site

ORIGIN = "https://council.example.com"
DISTRIBUTED = Installation(bot_token="")


@dataclass(slots=True)
class Distributed:
    """A running distributed app with its fakes; `browser` opens its pages."""

    app: AppContext
    gateway: BlockedGateway
    slack: FakeSlack
    browser: httpx.AsyncClient
    reports: list[str]

    async def begin(self) -> str:
        """Begin an installation; return the address of Slack's page."""
        reply = await self.browser.get(INSTALL_PATH)
        assert reply.status_code == 302
        return reply.headers["location"]

    async def install(self, *sites: Site) -> httpx.Response:
        """Install the app in a workspace, or in several of one organisation."""
        address = self.slack.allow(await self.begin(), *sites)
        return await self.browser.get(address)

    async def ask(self, site: Site, channel: str, user: str) -> Message:
        """Ask a question, and return the message that will be the answer."""
        before = len(self.posts(site, channel))
        await site.command(user, channel, "/council", "Which queue should a team of three use?")
        await self.slack.until(lambda: len(self.posts(site, channel)) > before, 20)
        return self.posts(site, channel)[-1]

    def posts(self, site: Site, channel: str) -> list[Message]:
        return [one for one in site.messages(channel) if one.user == site.workspace.bot]

    async def wait_until_answered(self, root: Message) -> None:
        await self.slack.until(lambda: "council:answers" in str(root.blocks), 20)

    async def whispers(self, site: Site, user: str, count: int = 1) -> list[str]:
        await self.slack.until(lambda: len(site.ephemerals(user)) >= count, 20)
        return [text_of(message) for message in site.ephemerals(user)]


def distributed_fake(token_seconds: int | None = None) -> FakeSlack:
    app = Installation(bot_token="", token_seconds=token_seconds)
    return FakeSlack(rules=Rules(rates=NO_RATES), app=app)


def distributed_tokens(slack: FakeSlack, secret: str = "") -> Tokens:
    installed = slack.state.app
    return Tokens(
        bot="",
        app=installed.app_token,
        signing="",
        api_url=slack.api_url,
        client_id=installed.client_id,
        client_secret=secret or installed.client_secret,
        redirect_uri=f"{ORIGIN}{REDIRECT_PATH}",
    )


def browser_of(slack: Slack) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(Starlette(routes=slack.routes))
    return httpx.AsyncClient(transport=transport, base_url=ORIGIN)


@asynccontextmanager
async def run_distributed(
    folder: Path, slack: FakeSlack, secret: str = "", gateway: BlockedGateway | None = None
) -> AsyncIterator[Distributed]:
    gateway = gateway or BlockedGateway()
    app, reports, installed = an_app(gateway), list[str](), slack.state.app
    app.outbox = Outbox(MemoryOutbox(), now, sleep_scaled, alone=True)
    app.access = Access(guests=True)
    secret = secret or installed.client_secret
    url = f"sqlite+aiosqlite:///{folder / 'council.db'}"
    engine = open_engine(url if (folder / "council.db").exists() else new_file(folder))
    app.parts.add(SqlInstallationStore(engine, secret))
    running_slack = Slack(app, distributed_tokens(slack, secret), reports.append, FAST_LIMITS)
    running = asyncio.create_task(running_slack.run())
    try:
        await until(lambda: slack.links.open, 30, lambda: reports)
        async with browser_of(running_slack) as browser:
            yield Distributed(app, gateway, slack, browser, reports)
    finally:
        running.cancel()
        gateway.goes_on.set()
        await asyncio.gather(running, return_exceptions=True)
        for line in await app.store.list_summaries():
            await app.runner.stop(line.id)
        await engine.dispose()
