"""A client of the HTTP API of a site, the documents it gets, and chairmen who write drafts."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import httpx

from bot.context import AppContext
from bot.runners.local import LocalRunner
from council.answers import Call, Reply, Role
from council.errors import GatewayError
from tests.bot.app_fakes import an_app, ready
from tests.bot.web.browsing import ADDRESS, IP, Site
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore

QUESTION = "Is Postgres enough for a job queue?"
PATH = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class ApiClient:
    """Sends requests with one bearer token, or without any."""

    site: Site
    bearer: str = ""

    async def get(self, path: str = "/v1/models") -> httpx.Response:
        return await self._client().get(path)

    async def ask(
        self, question: object = QUESTION, *, retry_key: str = "", **fields: object
    ) -> httpx.Response:
        """Send a request whose only message is the question."""
        messages = [{"role": "user", "content": question}]
        headers = {"Idempotency-Key": retry_key} if retry_key else {}
        body = {"model": "council", "messages": messages} | fields
        return await self.post(json.dumps(body).encode(), **headers)

    async def post(self, content: bytes, *, path: str = PATH, **headers: str) -> httpx.Response:
        sent = {"content-type": "application/json"} | headers
        return await self._client().post(path, content=content, headers=sent)

    def _client(self) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {self.bearer}"} if self.bearer else {}
        transport = httpx.ASGITransport(self.site.app, raise_app_exceptions=False, client=(IP, 1))
        return httpx.AsyncClient(transport=transport, base_url=ADDRESS, headers=headers)


def error_of(response: httpx.Response) -> dict[str, Any]:
    """Return the error of a response, which has OpenAI's shape."""
    document = response.json()
    assert set(document) == {"error"}
    error: dict[str, Any] = document["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


def chunks_of(stream: httpx.Response) -> list[dict[str, Any]]:
    """Return the documents of a stream without its last event, which is [DONE]."""
    assert stream.headers["content-type"].startswith("text/event-stream")
    *chunks, end = re.findall(r"^data: (.*)$", stream.text, re.MULTILINE)
    assert end == "[DONE]"
    return [json.loads(chunk) for chunk in chunks]


def deltas_of(chunks: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the pieces of the answer."""
    deltas = [choice["delta"].get("content", "") for one in chunks for choice in one["choices"]]
    return [delta for delta in deltas if delta]


@dataclass(eq=False)
class DraftingGateway(FakeGateway):
    """Chairmen stream these texts so far, one after the other; the last one ends their reply.

    A chairman in `failing` breaks off after the last one instead.
    """

    drafts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    failing: frozenset[str] = frozenset()

    async def complete(self, call: Call) -> Reply:
        drafts = self.drafts.get(call.member.key, ())
        if call.role is not Role.SYNTHESIS or not drafts:
            return await super().complete(call)
        assert call.on_text
        for draft in drafts:
            call.on_text(draft)
        if call.member.key in self.failing:
            raise GatewayError("hung up")
        return Reply(drafts[-1])


def a_drafting_app(gateway: FakeGateway) -> AppContext:
    """Return an app that publishes every draft, as if much time passed between them."""
    app, seconds = an_app(gateway, MemoryStore()), count()
    runner = LocalRunner(app.store, gateway, ready, clock=lambda: float(next(seconds)))
    return replace(app, runner=runner)
