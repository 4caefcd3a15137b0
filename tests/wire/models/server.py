"""A model server that follows a script and speaks OpenAI's chat protocol on loopback."""

import asyncio
import json
import re
from collections.abc import Mapping
from types import TracebackType
from typing import Self, TypedDict

from aiohttp import web

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

_KINDS = {429: "rate_limit_error", 500: "server_error", 502: "server_error", 503: "server_error"}
_LARGEST = 64 * 1024 * 1024


class Usage(TypedDict):
    """Tokens as OpenAI counts them; a word is a token here."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ModelServer:
    """Answers for every model name; `script` gives a name its behaviour, `requests` remembers.

    A behaviour that raises drops the connection, and leaving the server raises it again.
    """

    def __init__(self, *, latency: float = 0.0) -> None:
        self.script: dict[str, Behaviour] = {}
        self.requests: list[Request] = []
        self.hang_ups = 0  # requests whose client left before the reply was complete
        self._latency = latency
        self._default = by_role()
        self._working = 0
        self._broken: list[Exception] = []
        app = web.Application(client_max_size=_LARGEST)
        app.router.add_post("/v1/chat/completions", self._serve)
        app.router.add_route("*", "/{path:.*}", _unknown)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.01, handler_cancellation=True
        )

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024).start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._runner.cleanup()
        if self._broken:
            raise ExceptionGroup("a scripted behaviour raised", self._broken)

    @property
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def all_left(self) -> None:
        """Wait until no request is being served."""
        async with asyncio.timeout(30):
            while self._working:  # noqa: ASYNC110 - the clients end it
                await asyncio.sleep(0.005)

    def asked(self, model: str) -> list[Request]:
        return [request for request in self.requests if request.model == model]

    async def _serve(self, http: web.Request) -> web.StreamResponse:
        body, at = json.loads(await http.read()), asyncio.get_running_loop().time()
        request = Request(body["model"], tuple(body["messages"]), body, http.headers, at)
        self.requests.append(request)
        self._working += 1
        try:
            return await self._complete(request, http)
        except asyncio.CancelledError:
            self.hang_ups += 1
            raise
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 - raised again at the end
            self._broken.append(error)
            return _dropped(http)
        finally:
            self._working -= 1

    async def _complete(self, request: Request, http: web.Request) -> web.StreamResponse:
        outcome = self.script.get(request.model, self._default)(request)
        own = outcome.seconds if isinstance(outcome, Say) else None
        await asyncio.sleep(self._latency if own is None else own)
        match outcome:
            case Say() if request.body.get("stream"):
                return await _stream(request, outcome, http)
            case Say():
                return await _send(http, 200, _completion(request, outcome))
            case Fail():
                return await _fail(outcome, http)
            case Hang():
                await asyncio.sleep(outcome.seconds)
                return _dropped(http)
            case Drop():
                return await _break_off(request, outcome, http)


async def _unknown(http: web.Request) -> web.Response:
    return web.json_response(openai_error(f"Unknown request URL: {http.path}"), status=404)


def _dropped(http: web.Request) -> web.Response:
    """Close after what was written, in the middle of a reply or not."""
    assert http.transport
    http.transport.close()
    return web.Response()


async def _send(
    http: web.Request, status: int, body: object, headers: Mapping[str, str] | None = None
) -> web.Response:
    response = web.json_response(body, status=status, headers=headers)
    await response.prepare(http)
    await response.write_eof()
    return response


async def _fail(fail: Fail, http: web.Request) -> web.Response:
    headers = {} if fail.retry_after is None else {"retry-after": str(fail.retry_after)}
    body = fail.body or openai_error(f"It failed with {fail.status}.", kind=_KINDS.get(fail.status))
    return await _send(http, fail.status, body, headers)


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
    message = {"role": "assistant", "content": say.text}
    if say.reasoning:
        message["reasoning_content"] = say.reasoning
    choice = {"index": 0, "message": message, "finish_reason": say.finish_reason}
    head = _head(request, "chat.completion")
    return head | {"choices": [choice], "usage": _usage(request, say)}


def _chunk(request: Request, delta: dict[str, object], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps(_head(request, "chat.completion.chunk") | {"choices": [choice]})


async def _open_stream(http: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(http)
    return response


async def _send_event(response: web.StreamResponse, event: str) -> None:
    await response.write(f"data: {event}\n\n".encode())


async def _stream(request: Request, say: Say, http: web.Request) -> web.StreamResponse:
    response = await _open_stream(http)
    await _send_event(response, _chunk(request, {"role": "assistant", "content": ""}))
    if say.reasoning:
        await _send_event(response, _chunk(request, {"reasoning_content": say.reasoning}))
    for piece in re.findall(r"\s*\S+|\s+$", say.text):
        await _send_event(response, _chunk(request, {"content": piece}))
        if say.drip_seconds:
            await asyncio.sleep(say.drip_seconds)
    if say.ends:
        await _send_event(response, _chunk(request, {}, say.finish_reason))
        options = request.body.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage"):
            last = _head(request, "chat.completion.chunk")
            usage = {"choices": [], "usage": _usage(request, say)}
            await _send_event(response, json.dumps(last | usage))
        await _send_event(response, "[DONE]")
    await response.write_eof()
    return response


async def _break_off(request: Request, drop: Drop, http: web.Request) -> web.Response:
    if request.body.get("stream"):
        await _send_event(await _open_stream(http), _chunk(request, {"content": drop.text}))
    else:
        content = json.dumps(_completion(request, Say(drop.text))).encode()
        response = web.StreamResponse(headers={"content-type": "application/json"})
        response.content_length = len(content)
        await response.prepare(http)
        await response.write(content[:-20])
    return _dropped(http)
