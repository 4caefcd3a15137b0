"""The interface of the fake Slack for tests: users act, the product replies, the test inspects."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.wire.faults import Fault, Storm, until
from tests.wire.slack.calls import Call
from tests.wire.slack.deliveries import RequestUrl
from tests.wire.slack.mentions import find_mentions
from tests.wire.slack.server import RESPONSE_URL, Server
from tests.wire.slack.sockets import Links
from tests.wire.slack.state import (
    Code,
    File,
    HistoryLimit,
    Installation,
    Rules,
    SeenFault,
    State,
    View,
)
from tests.wire.slack.user_actions import UserActions
from tests.wire.slack.workspace import Message, Workspace

Payload = dict[str, Any]


class Site(UserActions):
    """One workspace of the fake: its users act, and the test inspects what they see."""

    @property
    def workspace(self) -> Workspace:
        return self.state.workspace

    @property
    def calls(self) -> list[Call]:
        """All calls of the API so far; the method of a response_url is "response_url"."""
        return self.state.calls

    @property
    def faults(self) -> list[SeenFault]:
        return self.state.faults

    @property
    def files(self) -> list[File]:
        return [file for file in self.state.files.values() if file.done]

    def called(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    def messages(self, channel: str) -> list[Message]:
        """Return the messages of a channel, in order, without replies."""
        said = self.workspace.channels[channel].said
        return [message for message in said if message.thread_ts is None]

    def thread(self, channel: str, ts: str) -> list[Message]:
        said = self.workspace.channels[channel].said
        return [message for message in said if message.thread_ts == ts]

    def direct(self, user: str) -> list[Message]:
        return list(self.workspace.im_with(user).said)

    def ephemerals(self, user: str) -> list[Message]:
        return [message for message in self.state.ephemerals if message.ephemeral_to == user]

    def views(self, user: str) -> list[View]:
        return list(self.state.modals.get(user, []))

    def home(self, user: str) -> View:
        """Return the app's home, which the app must have published for this user."""
        return self.state.homes[user]

    def pings(self) -> list[str]:
        """Return what all messages posted or updated would notify, hide or fetch."""
        posting = ("chat.postMessage", "chat.update", "chat.postEphemeral", RESPONSE_URL)
        found: list[str] = []
        for call in self.calls:
            if call.method == "files.completeUploadExternal":
                found += find_mentions({"text": call.text("initial_comment")}, call.method)
            elif call.method in posting:
                content = call.arguments | {"blocks": call.value("blocks")}
                found += find_mentions(content, call.method)
        return found

    async def until(self, holds: Callable[[], object], seconds: float = 10.0) -> None:
        await until(holds, seconds, self._last)

    def _last(self) -> list[str]:
        return [f"{call.method}: {call.outcome}" for call in self.calls[-8:]]


class FakeSlack(Site):
    """A strict Slack on loopback, over Socket Mode or signed HTTP, and its first workspace."""

    def __init__(
        self,
        transport: Literal["socket", "http"] = "socket",
        rules: Rules | None = None,
        workspace: Workspace | None = None,
        app: Installation | None = None,
        port: int = 0,
    ) -> None:
        state = State(rules or Rules(), workspace or Workspace.standard(), app or Installation())
        self.links = Links(state)
        self.request_url = RequestUrl(state)
        super().__init__(state, self.links if transport == "socket" else self.request_url)
        self._server = Server(state, self.links, port)

    async def __aenter__(self) -> Self:
        await self._server.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        work = list(self.state.work)
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        await self.links.close()
        await self.request_url.close()
        await self._server.stop()
        if self.state.broken:
            raise ExceptionGroup("the fake Slack itself failed", self.state.broken)

    @property
    def api_url(self) -> str:
        return f"{self.state.address}/api/"

    def add_workspace(self, name: str, letter: str, enterprise: str = "") -> Site:
        """Return another workspace, which has not installed the app yet."""
        workspace = Workspace.standard(name, letter, enterprise)
        return Site(self.state.add_site(workspace), self.transport)

    def allow(self, url: str, *sites: Site, user: str = "U1") -> str:
        """Allow an installation on Slack's page; return the address that Slack redirects to.

        Several sites are the workspaces of one organisation, which installs the app as a whole.
        """
        asked = {name: texts[0] for name, texts in parse_qs(urlsplit(url).query).items()}
        app, redirect_uri = self.state.app, asked.get("redirect_uri")
        assert asked["client_id"] == app.client_id
        assert set(asked["scope"].split(",")) <= set(app.scopes)
        assert redirect_uri in {None, *app.redirect_urls}, "bad_redirect_uri"
        states = tuple(site.state for site in sites) or (self.state,)
        for state in states:
            state.is_org_install = len(states) > 1
        code = f"code-{self.state.number()}"
        self.state.codes[code] = Code(states, user, redirect_uri, self.state.now())
        query = urlencode({"code": code, "state": asked["state"]})
        return f"{redirect_uri or app.redirect_urls[0]}?{query}"

    def trouble(self, method: str, trouble: Fault, times: int = 1) -> None:
        """Inject a fault into the next calls of a method, "upload", "response_url" or "*" (any)."""
        self.state.troubles.order(method, trouble, times)

    def storm(self, method: str, seconds: float, retry_after: int = 1) -> None:
        """Reply to every call of a method with 429 for some seconds."""
        self.state.troubles.storm(method, Storm(seconds, retry_after), self.state.now())

    def limit_history(self, *, on: bool = True) -> None:
        """Impose Slack's limit of 2025 for apps outside the Marketplace, or lift it."""
        self.state.history_limit = HistoryLimit() if on else None

    def skip(self, seconds: float) -> None:
        """Set the clock forward."""
        self.state.skipped += seconds

    def refuse_blocks(self, *types: str) -> None:
        """Refuse these blocks, like a workspace that does not have them yet."""
        self.state.refused_blocks |= set(types)

    async def connected(self, links: int = 1, seconds: float = 10.0) -> None:
        await self.until(lambda: len(self.links.open) >= links, seconds)

    def calm(self) -> None:
        self.state.troubles.clear()
