"""The HTTP API /v1 in OpenAI's shape: models, chat completions (whole or streamed), errors."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import datetime
from math import ceil
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from bot.access import AccessDeniedError, RoundLimitError, allows_panel
from bot.admission import admit_round
from bot.api_keys import KEY_PREFIX, ApiKey, find_key
from bot.chat import Asker, IncomingMessage, event_key
from bot.commands.ask import AskOptions, new_round
from bot.commands.decide import begin_decision, follow_decision, load_decidable
from bot.commands.rounds import find_round
from bot.context import AppContext, RunningDecision
from bot.coordination.tasks import states
from bot.hooks import is_same_question
from bot.observability import logs
from bot.ports import RoundSnapshot, RoundStoppedError
from bot.render.round_json import round_document
from bot.web.api_requests import (
    INTERNAL_ERROR,
    TOO_MANY,
    ApiError,
    CompletionRequest,
    CouncilRequest,
    error_document,
    parse_request,
)
from bot.web.auth import TooManyRequestsError, bearer_of
from bot.web.context import WebContext
from bot.web.events import event_stream
from council.errors import (
    BudgetError,
    CouncilError,
    DecisionError,
    FileError,
    ForgottenError,
    QuestionError,
    RoundNotFoundError,
)
from council.places import Place
from council.prompts.shared import truncate
from council.prompts.synthesis import settled_draft
from council.rounds import Round

MODEL = "council"
BEARER = Asker("api", "the API")  # who has the page's token, or needs none
HEARTBEAT_SECONDS = 5.0  # a client may give up after ten seconds of silence
MAX_IDEMPOTENCY_KEY = 255
SETTLE_SECONDS = 0.5
RETRY_SECONDS = 60  # where nothing says when a budget has room again
REPLACED = (
    "The model that was writing this answer stopped, and another one wrote it anew. Read the "
    "answer at {url}. A request with an Idempotency-Key can be sent again at no further cost."
)
REUSED = "This Idempotency-Key was used for another request. Use a new key for each question."
_COUNCIL_FIELDS = ("verdict", "standings", "analysis", "absences")
_DECIDED_FIELDS = ("decisions", "unfollowed")  # of a round that was decided

# The first that fits, in this order.
_STATUSES: tuple[tuple[type[Exception], int, str | None], ...] = (
    (BudgetError, TOO_MANY, "insufficient_quota"),
    (RoundLimitError, TOO_MANY, "rate_limit_exceeded"),
    (TooManyRequestsError, TOO_MANY, "rate_limit_exceeded"),
    (FileError, 400, "unsupported_value"),
    (QuestionError, 400, "context_length_exceeded"),
    (AccessDeniedError, 403, None),
    (DecisionError, 400, "invalid_decision"),
    (RoundNotFoundError, 404, "round_not_found"),
    (ForgottenError, 410, None),
    (CouncilError, 503, None),
)

Document = dict[str, Any]


# --- Who asks


async def authenticate(context: WebContext, request: Request) -> ApiKey | None:
    """Return the named key of a request; None for the page's token, or where none is needed.

    Raise ApiError (401) for a wrong, revoked or missing key, TooManyRequestsError for a token from
    an address that guessed too often. A key that somebody has or had is no guess.
    """
    sent = bearer_of(request)
    key = await find_key(context.app.key_values, sent)
    if key and key.revoked_at is None:
        return key
    if key:
        raise ApiError(401, "This API key was revoked. Ask for a new one.", "invalid_api_key")
    if context.token:
        if sent and context.limits.is_right_token(request, context.token, sent):
            return None
    elif not sent.startswith(KEY_PREFIX):
        return None  # a client must send some key, even where none is needed
    why = "This API key is wrong." if sent else "Send an API key as a bearer token."
    raise ApiError(401, why, "invalid_api_key")


def _key_of(connection: HTTPConnection) -> ApiKey | None:
    key: ApiKey | None = connection.scope["api_key"]  # the middleware has authenticated it
    return key


def _asker_of(key: ApiKey | None) -> Asker:
    return Asker(key.asker_id, key.name) if key else BEARER


def _place_of(asker: Asker) -> Place:
    return Place("web", channel=asker.id)


# --- Models


async def list_models(context: WebContext, request: Request) -> Response:
    """Return the panels that the key may ask, as models."""
    models = [
        {"id": model, "object": "model", "created": 0, "owned_by": MODEL}
        for model in _models(context, _key_of(request))
    ]
    return JSONResponse({"object": "list", "data": models})


def _models(context: WebContext, key: ApiKey | None) -> dict[str, str]:
    """Return the panel of each model id that a key may use."""
    app, place = context.app, _place_of(_asker_of(key))
    allowed = [
        name
        for name, panel in app.panels.items()
        if allows_panel(app.access, place, panel) and (key is None or key.allows(name))
    ]
    default = app.panel_name(place)
    first = {MODEL: default} if default in allowed else {}
    return {**first, **{f"{MODEL}/{name}": name for name in allowed}}


def _panel_of(context: WebContext, key: ApiKey | None, model: str) -> str:
    """Return the panel of a model; raise ApiError (404) if there is none for this key."""
    models = _models(context, key)
    if model not in models:
        known = ", ".join(models) or "none"
        what = f"There is no model {model!r}, or not for this key. Known models: {known}."
        raise ApiError(404, what, "model_not_found", "model")
    return models[model]


# --- Chat completions


async def complete_chat(context: WebContext, request: Request) -> Response:
    """Ask a panel; return its answer, whole or as a stream."""
    sent_as = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent_as != "application/json":
        # Another site's page could send any other type without asking first.
        raise ApiError(415, "Send the request as application/json.")
    wanted = await asyncio.to_thread(parse_request, await request.body())
    if wanted.council:
        return await _decide(context, request, wanted, wanted.council)
    round_ = await _open_round(context, request, wanted)
    completion = _Completion(wanted, f"{request.base_url}rounds/{round_.id}")
    if wanted.streams:
        return event_stream(_stream(context, completion, round_), HEARTBEAT_SECONDS)
    async with context.app.runner.subscribe(round_.id) as snapshots:
        async for snapshot in snapshots:
            round_ = snapshot.round_
    return JSONResponse(completion.whole(round_))


async def _open_round(context: WebContext, request: Request, wanted: CompletionRequest) -> Round:
    """Start the round of a request, or return the one that its Idempotency-Key has started."""
    app, key = context.app, _key_of(request)
    panel, asker = _panel_of(context, key, wanted.model), _asker_of(key)
    retried, seed = request.headers.get("idempotency-key", ""), wanted.seed
    if len(retried) > MAX_IDEMPOTENCY_KEY:
        what = f"An Idempotency-Key has at most {MAX_IDEMPOTENCY_KEY} characters."
        raise ApiError(400, what)
    round_id = event_key("api", asker.id, retried) if retried else app.new_id()
    if retried and seed is None:
        seed = event_key("api seed", asker.id, retried)  # so that a retry has it too
    message = IncomingMessage(wanted.question, asker, _place_of(asker), round_id, wanted.context)
    message = replace(message, files=wanted.files, instructions=wanted.instructions)
    round_ = await new_round(app, message, AskOptions(panel, None, seed))
    terms = replace(round_.panel.terms, synthesis_tokens=wanted.max_tokens)
    round_ = replace(round_, panel=replace(round_.panel, terms=terms))
    if not await _open_when_settled(app, round_):
        stored = await app.store.load(round_id)
        is_same = is_same_question(app, stored.question, round_.question)
        if not is_same or _options_of(stored) != _options_of(round_):
            raise ApiError(409, REUSED, "idempotency_key_reused")
        round_ = stored
    app.runner.start(round_)  # does nothing if it is running or closed
    return round_


async def _decide(
    context: WebContext, request: Request, wanted: CompletionRequest, asked: CouncilRequest
) -> Response:
    """Decide points of a round; return the answer that is written with them, whole or as a stream.

    An Idempotency-Key makes a retry the same decision.
    """
    app, api_key = context.app, _key_of(request)
    asker = _asker_of(api_key)
    _panel_of(context, api_key, wanted.model)
    retried = request.headers.get("idempotency-key", "")[:MAX_IDEMPOTENCY_KEY]
    key = event_key("api decision", asker.id, retried) if retried else app.new_id()
    message = IncomingMessage("", asker, _place_of(asker), key)
    round_ = await find_round(app, message, asked.round_id)
    if api_key and not api_key.allows(round_.panel.name):
        raise AccessDeniedError("This API key may not ask the models of this round.")
    completion = _Completion(wanted, f"{request.base_url}rounds/{round_.id}")
    if all(decision.key != key for decision in round_.decisions):
        round_ = await load_decidable(app, message, round_.id)
        points = [(one.point, one.says) for one in asked.decisions]
        running = await begin_decision(app, message, round_, points)
        if wanted.streams and running:
            return event_stream(_stream_decision(completion, running, key), HEARTBEAT_SECONDS)
        round_ = await follow_decision(running) if running else round_
    if wanted.streams:
        return event_stream(_stream_text(completion, round_, key), HEARTBEAT_SECONDS)
    return JSONResponse(completion.whole(_as_decided(round_, key)))


def _as_decided(round_: Round, key: str) -> Round:
    """Return a round whose answer is the one written for a decision, also of who did not ask."""
    until = next((i for i, one in enumerate(round_.decisions, start=1) if one.key == key), 0)
    decisions = round_.decisions[:until]
    by = decisions[-1].by if decisions else round_.question.asked_by
    return replace(round_, question=replace(round_.question, asked_by=by), decisions=decisions)


async def _open_when_settled(app: AppContext, round_: Round) -> bool:
    """Store a round; try twice, since a round that has just ended frees its budget a bit later."""
    try:
        return await admit_round(app, round_)
    except BudgetError:
        await asyncio.sleep(SETTLE_SECONDS)
        return await admit_round(app, round_)


def _options_of(round_: Round) -> tuple[object, ...]:
    # Not the whole panel: stand-ins may have taken seats in it.
    panel = round_.panel
    return panel.name, panel.terms.synthesis_tokens, round_.seed


class _Completion:
    """Builds the documents of one request's answer."""

    def __init__(self, wanted: CompletionRequest, url: str) -> None:
        self._wanted, self.url = wanted, url

    def cut(self, text: str) -> str:
        """Return a text up to the length that was asked for."""
        limit = self._wanted.max_tokens
        return text if limit is None else truncate(text, limit)

    def whole(self, round_: Round) -> Document:
        """Return the completion of a closed round; raise ApiError if it has no answer."""
        text = check_answered(round_)
        message = {"role": "assistant", "content": self.cut(text), "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None}
        return {
            **self._head(round_, "chat.completion"),
            "choices": [choice | {"finish_reason": self._finish(text)}],
            "usage": _usage(round_),
            "council": self._council(round_),
        }

    def chunk(self, round_: Round, delta: Document, finish: str | None = None) -> Document:
        """Return one chunk of a stream."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        usage = {"usage": None} if self._wanted.include_usage else {}
        return {**self._head(round_, "chat.completion.chunk"), "choices": [choice], **usage}

    def last_chunks(self, round_: Round, sent: str) -> list[Document]:
        """Return the chunks after the answer; the last one has the council's results.

        Raise ApiError if there is no answer, or another one than what was `sent`.
        """
        text = check_answered(round_)
        if sent != self.cut(text):
            raise ApiError(503, REPLACED.format(url=self.url), "answer_replaced")
        finish = self._finish(text)
        chunks = [self.chunk(round_, {}, finish)]
        if self._wanted.include_usage:
            chunks.append(chunks[0] | {"choices": [], "usage": _usage(round_)})
        chunks[-1]["council"] = self._council(round_)
        return chunks

    def _head(self, round_: Round, kind: str) -> Document:
        created = int(round_.asked_at.timestamp())
        model = self._wanted.model
        return {"id": f"chatcmpl-{round_.id}", "object": kind, "created": created, "model": model}

    def _finish(self, text: str) -> str:
        return "stop" if self.cut(text) == text else "length"

    def _council(self, round_: Round) -> Document:
        document = round_document(round_)
        names = (*_COUNCIL_FIELDS, *(_DECIDED_FIELDS if round_.decisions else ()))
        fields = {name: document[name] for name in names}
        return {"round_id": round_.id, "url": self.url, **fields}


def check_answered(round_: Round) -> str:
    """Return the answer of a closed round; raise ApiError (503) if it has none."""
    if round_.closing is None:
        raise RoundStoppedError(f"Round {round_.id} was stopped before it finished.")
    if round_.final is None:
        raise ApiError(503, round_.closing.failure or "There is no answer.", "no_quorum")
    return round_.final.text


def _usage(round_: Round) -> Document:
    """Return the sums of the round's tokens; a model that reports none adds nothing."""
    asked = sum(reply.tokens_in or 0 for reply in round_.replies)
    written = sum(reply.tokens_out or 0 for reply in round_.replies)
    return {
        "prompt_tokens": asked,
        "completion_tokens": written,
        "total_tokens": asked + written,
    }


# --- Streams


async def _stream(
    context: WebContext, completion: _Completion, round_: Round
) -> AsyncIterator[Document]:
    """Yield the chunks of an answer as it is written, or the error that ends it.

    The round runs on if the client leaves.
    """
    sent = ""
    yield _event(completion.chunk(round_, {"role": "assistant", "content": ""}))
    try:
        async with context.app.runner.subscribe(round_.id) as snapshots:
            async for snapshot in snapshots:
                round_ = snapshot.round_
                text = completion.cut(_text_so_far(snapshot))
                if len(text) > len(sent) and text.startswith(sent):
                    yield _event(completion.chunk(round_, {"content": text[len(sent) :]}))
                    sent = text
        for chunk in completion.last_chunks(round_, sent):
            yield _event(chunk)
        yield {"data": "[DONE]"}
    # The outermost handler of a stream: its headers are sent, so the error becomes an event.
    except Exception as error:  # noqa: BLE001
        yield _event(_describe(error)[1])


async def _stream_decision(
    completion: _Completion, running: RunningDecision, key: str
) -> AsyncIterator[Document]:
    """Yield the chunks of an answer while it is written anew, or the error that ends it."""
    sent, round_ = "", running.state.round_
    yield _event(completion.chunk(round_, {"role": "assistant", "content": ""}))
    try:
        with running.subscription() as updates:
            async for snapshot in states(updates):
                round_ = snapshot.round_
                text = completion.cut(settled_draft(snapshot.draft))
                if len(text) > len(sent) and text.startswith(sent):
                    yield _event(completion.chunk(round_, {"content": text[len(sent) :]}))
                    sent = text
        async for event in _stream_rest(completion, _as_decided(round_, key), sent):
            yield event
    # The outermost handler of a stream: its headers are sent, so the error becomes an event.
    except Exception as error:  # noqa: BLE001
        yield _event(_describe(error)[1])


async def _stream_rest(
    completion: _Completion, round_: Round, sent: str
) -> AsyncIterator[Document]:
    """Yield what is missing of an answer, and what follows it."""
    text = completion.cut(check_answered(round_))
    if text.startswith(sent) and text != sent:
        yield _event(completion.chunk(round_, {"content": text[len(sent) :]}))
        sent = text
    for chunk in completion.last_chunks(round_, sent):
        yield _event(chunk)
    yield {"data": "[DONE]"}


async def _stream_text(completion: _Completion, round_: Round, key: str) -> AsyncIterator[Document]:
    """Yield the chunks of an answer that is there already."""
    yield _event(completion.chunk(round_, {"role": "assistant", "content": ""}))
    async for event in _stream_rest(completion, _as_decided(round_, key), ""):
        yield event


def _text_so_far(snapshot: RoundSnapshot) -> str:
    """Return the part of the answer that nothing can change, unless another chairman takes over."""
    written = snapshot.round_.synthesis
    return written.text if written else settled_draft(snapshot.draft)


def _event(document: Document) -> Document:
    return {"data": json.dumps(document, ensure_ascii=False)}


# --- Errors


def error_response(error: Exception, now: Callable[[], datetime]) -> Response:
    """Return an error in OpenAI's shape."""
    status, document = _describe(error)
    return JSONResponse(document, status, _error_headers(error, status, now))


def _error_headers(error: Exception, status: int, now: Callable[[], datetime]) -> dict[str, str]:
    """Return when to try again; if that would only cost more, that OpenAI's SDKs must not."""
    if isinstance(error, TooManyRequestsError):
        return {"Retry-After": str(error.retry_seconds)}
    if isinstance(error, BudgetError | RoundLimitError):
        at = error.retry_at
        seconds = RETRY_SECONDS if at is None else max(1, ceil((at - now()).total_seconds()))
        return {"Retry-After": str(seconds), "x-should-retry": "false"}
    if status == 401:  # noqa: PLR2004
        return {"WWW-Authenticate": "Bearer"}
    return {"x-should-retry": "false"} if status in {409, 503} else {}


def _describe(error: Exception) -> tuple[int, Document]:
    """Return the status and the body of an error."""
    message, param = str(error), None
    if isinstance(error, ApiError):
        status, code, param = error.status, error.code, error.param
    elif isinstance(error, HTTPException):
        status, code = error.status_code, None
        message = f"{error.detail}. The API has GET /v1/models and POST /v1/chat/completions."
    else:
        known = ((status, code) for kind, status, code in _STATUSES if isinstance(error, kind))
        status, code = next(known, (INTERNAL_ERROR, None))
    if status == INTERNAL_ERROR:
        message = logs.log_unexpected_error("api_failed", error)
    return status, error_document(status, message, code, param)
