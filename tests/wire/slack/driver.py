"""The fake Slack as a test holds it: people act, the product answers, the test looks."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, Self

from tests.wire.looking import until
from tests.wire.slack.acting import Acting
from tests.wire.slack.calls import Call
from tests.wire.slack.links import Links
from tests.wire.slack.pings import pings_in
from tests.wire.slack.request_url import RequestUrl
from tests.wire.slack.server import Server
from tests.wire.slack.state import File, Installation, Rules, SeenFault, State, View
from tests.wire.slack.troubles import Storm, Trouble
from tests.wire.slack.workspace import Message, Workspace

Payload = dict[str, Any]


class FakeSlack(Acting):
    """A strict Slack on loopback, over Socket Mode or signed HTTP."""

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
        """The address of the Web API, as a client wants it."""
        return f"{self.state.address}/api/"

    @property
    def workspace(self) -> Workspace:
        """The people and places."""
        return self.state.workspace

    @property
    def calls(self) -> list[Call]:
        """Every call of the API so far; uses of a response_url are called "response_url"."""
        return self.state.calls

    @property
    def faults(self) -> list[SeenFault]:
        """Every failure of the app that Slack showed someone."""
        return self.state.faults

    @property
    def files(self) -> list[File]:
        """Every file that was shared."""
        return [file for file in self.state.files.values() if file.done]

    def called(self, method: str) -> list[Call]:
        """Give the calls of one method, in order."""
        return [call for call in self.calls if call.method == method]

    def messages(self, channel: str) -> list[Message]:
        """Give what stands in a channel, in order, without the replies."""
        said = self.workspace.channels[channel].said
        return [message for message in said if message.thread_ts is None]

    def thread(self, channel: str, ts: str) -> list[Message]:
        """Give the replies under a root, in order."""
        said = self.workspace.channels[channel].said
        return [message for message in said if message.thread_ts == ts]

    def direct(self, user: str) -> list[Message]:
        """Give everything in the direct conversation with this user."""
        return list(self.workspace.im_with(user).said)

    def ephemerals(self, user: str) -> list[Message]:
        """Give what this user alone was shown."""
        return [message for message in self.state.ephemerals if message.ephemeral_to == user]

    def views(self, user: str) -> list[View]:
        """Give the modals on this user's screen, the lowest first."""
        return list(self.state.modals.get(user, []))

    def home(self, user: str) -> View | None:
        """Give this user's home tab."""
        return self.state.homes.get(user)

    def pings(self) -> list[str]:
        """Give what every message ever posted or updated would notify, hide or fetch."""
        posting = ("chat.postMessage", "chat.update", "chat.postEphemeral", "response_url")
        found: list[str] = []
        for call in self.calls:
            if call.method == "files.completeUploadExternal":
                found += pings_in({"text": call.text("initial_comment")}, call.method)
            elif call.method in posting:
                read = {"blocks": call.value("blocks"), "attachments": call.value("attachments")}
                found += pings_in(call.arguments | read, call.method)
        return found

    def trouble(self, method: str, trouble: Trouble, times: int = 1) -> None:
        """Let the next calls of a method meet this; "*" is any, "upload" and "response_url" too."""
        self.state.troubles.order(method, trouble, times)

    def storm(self, method: str, seconds: float, retry_after: int = 1) -> None:
        """Answer every call of a method with 429 for so long."""
        self.state.troubles.storm(method, Storm(seconds, retry_after), self.state.now())

    def refuse_blocks(self, *types: str) -> None:
        """Know these blocks no more, as a workspace they were not rolled out to."""
        self.state.refused_blocks |= set(types)

    async def connected(self, links: int = 1, seconds: float = 10.0) -> None:
        """Wait until the product holds so many links."""
        await self.until(lambda: len(self.links.open) >= links, seconds)

    def calm(self) -> None:
        """Order nothing any more."""
        self.state.troubles.clear()

    async def until(self, holds: Callable[[], object], seconds: float = 10.0) -> None:
        """Look again and again until this holds; fail with what was seen when it never does."""
        await until(holds, seconds, self._last)

    def _last(self) -> list[str]:
        return [f"{call.method}: {call.outcome}" for call in self.calls[-8:]]
