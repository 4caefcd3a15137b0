"""A model server that follows a script and speaks OpenAI's chat protocol on loopback."""

import asyncio
import json
import re
from collections.abc import Mapping
from types import TracebackType
from typing import Self, TypedDict

from tests.wire.models.behaviours import (
    Behaviour,
    Drop,
    Fail,
    Hang,
    Request,
    Say,
    by_role,
    openai_error,
)
from tests.wire.models.http import Connection, Received

_KINDS = {429: "rate_limit_error", 500: "server_error", 502: "server_error", 503: "server_error"}


class Usage(TypedDict):
    """Tokens as OpenAI counts them; a word is a token here."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ModelServer:
    """Answers for every model name; `script` gives a name its behaviour, `requests` remembers.

    `listing` is the reply of its list of models, and `keys` those that it accepts there, if any.
    A behaviour that raises drops the connection, and leaving the server raises it again.
    """

    def __init__(self, *, latency: float = 0.0) -> None:
        self.script: dict[str, Behaviour] = {}
        self.requests: list[Request] = []
        self.listing: Mapping[str, object] | Fail = model_list()
        self.keys: set[str] = set()
        self.hang_ups = 0  # requests whose client left before the reply was complete
        self._latency = latency
        self._port = 0
        self._default = by_role()
        self._open: set[Connection] = set()
        self._broken: list[Exception] = []

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self._serve, self._open), "127.0.0.1", 0, backlog=1024
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        work = [connection.work for connection in self._open if connection.work]
        for connection in tuple(self._open):
            connection.drop()
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        if self._broken:
            raise ExceptionGroup("a scripted behaviour raised", self._broken)

    @property
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def all_left(self) -> None:
        """Wait until every client connected now has hung up."""
        for connection in tuple(self._open):
            await connection.closed.wait()

    def asked(self, model: str) -> list[Request]:
        return [request for request in self.requests if request.model == model]

    def _list(self, received: Received, wire: Connection) -> None:
        key = received.headers.get("authorization", "").removeprefix("Bearer ")
        if self.keys and key not in self.keys:
            wire.send(401, openai_error(f"Incorrect API key provided: {key}."))
        elif isinstance(self.listing, Fail):
            _fail(self.listing, wire)
        else:
            wire.send(200, self.listing)

    async def _serve(self, received: Received, wire: Connection) -> None:
        if (received.method, received.path) == ("GET", "/v1/models"):
            self._list(received, wire)
            return
        if (received.method, received.path) != ("POST", "/v1/chat/completions"):
            wire.send(404, openai_error(f"Unknown request URL: {received.path}"))
            return
        try:
            await self._complete(self._read(received), wire)
        except asyncio.CancelledError:
            self.hang_ups += 1
            raise
        except Exception as error:
            self._broken.append(error)
            raise

    def _read(self, received: Received) -> Request:
        body = json.loads(received.body)
        at = asyncio.get_running_loop().time()
        request = Request(body["model"], tuple(body["messages"]), body, received.headers, at)
        self.requests.append(request)
        return request

    async def _complete(self, request: Request, wire: Connection) -> None:
        outcome = self.script.get(request.model, self._default)(request)
        own = outcome.seconds if isinstance(outcome, Say) else None
        seconds = self._latency if own is None else own
        if seconds:
            await asyncio.sleep(seconds)
        match outcome:
            case Say() if request.body.get("stream"):
                await _stream(request, outcome, wire)
            case Say():
                wire.send(200, _completion(request, outcome))
            case Fail():
                _fail(outcome, wire)
            case Hang():
                await asyncio.sleep(outcome.seconds)
                wire.drop()
            case Drop():
                _break_off(request, outcome, wire)


def model_list(*names: str) -> dict[str, object]:
    """Return a list of models as OpenAI writes one."""
    return {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}


def _fail(fail: Fail, wire: Connection) -> None:
    headers = {} if fail.retry_after is None else {"retry-after": str(fail.retry_after)}
    body = fail.body or openai_error(f"It failed with {fail.status}.", kind=_KINDS.get(fail.status))
    wire.send(fail.status, body, headers)


def _usage(request: Request, say: Say) -> Usage:
    prompt = len(f"{request.system} {request.user}".split())
    reply = len(f"{say.reasoning or ''} {say.text}".split())
    return {
        "prompt_tokens": prompt,
        "completion_tokens": reply,
        "total_tokens": prompt + reply,
    }


def _head(request: Request, kind: str) -> dict[str, object]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_700_000_000, "model": request.model}


def _completion(request: Request, say: Say) -> dict[str, object]:
    message = {"role": "assistant", "content": say.text, **say.message}
    if say.reasoning:
        message["reasoning_content"] = say.reasoning
    choice = {"index": 0, "message": message, "finish_reason": say.finish_reason}
    if request.body.get("logprobs"):
        choice["logprobs"] = say.logprobs
    head = _head(request, "chat.completion")
    return head | {"choices": [choice], "usage": _usage(request, say)}


def _chunk(
    request: Request, delta: dict[str, object], finish: str | None = None, logprobs: object = None
) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    if logprobs:
        choice["logprobs"] = logprobs
    return json.dumps(_head(request, "chat.completion.chunk") | {"choices": [choice]})


async def _stream(request: Request, say: Say, wire: Connection) -> None:
    wire.open_stream()
    wire.send_event(_chunk(request, {"role": "assistant", "content": ""}))
    if say.reasoning:
        wire.send_event(_chunk(request, {"reasoning_content": say.reasoning}))
    for piece, logprobs in _pieces(request, say):
        wire.send_event(_chunk(request, {"content": piece}, logprobs=logprobs))
        if say.drip_seconds:
            await asyncio.sleep(say.drip_seconds)
    if say.ends:
        wire.send_event(_chunk(request, {}, say.finish_reason))
        options = request.body.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage"):
            last = _head(request, "chat.completion.chunk")
            wire.send_event(json.dumps(last | {"choices": [], "usage": _usage(request, say)}))
        wire.send_event("[DONE]")
    wire.end_stream()


def _pieces(request: Request, say: Say) -> list[tuple[str, object]]:
    if request.body.get("logprobs") and isinstance(say.logprobs, dict):
        return [(token["token"], {"content": [token]}) for token in say.logprobs["content"]]
    return [(piece, None) for piece in re.findall(r"\s*\S+|\s+$", say.text)]


def _break_off(request: Request, drop: Drop, wire: Connection) -> None:
    if request.body.get("stream"):
        wire.open_stream()
        wire.send_event(_chunk(request, {"content": drop.text}))
    else:
        content = json.dumps(_completion(request, Say(drop.text))).encode()
        wire.send_raw(wire.head(200, len(content)) + content[:-20])
    wire.drop()
