"""The HTTP API /v1 in OpenAI's shape: models, chat completions, responses, errors."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from math import ceil

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from bot.access import AccessDeniedError, RoundLimitError, allows_panel
from bot.admission import admit_round
from bot.api_keys import KEY_PREFIX, ApiKey, find_key
from bot.chat import Asker, IncomingMessage, event_key
from bot.commands.ask import AskOptions, new_round
from bot.commands.conversations import follow_up
from bot.commands.decide import begin_decision, follow_decision, load_decidable
from bot.commands.rounds import find_round
from bot.context import AppContext, RunningDecision
from bot.coordination.tasks import states
from bot.hints import shell_hints
from bot.hooks import is_same_question
from bot.observability import logs
from bot.web.api_answers import AnswerReader, Document, Shape
from bot.web.api_completions import ChatCompletion
from bot.web.api_errors import INTERNAL_ERROR, TOO_MANY, ApiError, error_document
from bot.web.api_forms import AnswerForm
from bot.web.api_requests import CompletionRequest, CouncilRequest, parse_request
from bot.web.api_responses import PREFIX, CouncilResponse, parse_response_request
from bot.web.api_turns import MAX_API_CHARACTERS
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
from council.integrity.erasure import forgotten_error
from council.places import Place
from council.prompts.synthesis import settled_draft
from council.rounds import Round

MODEL = "council"
BEARER = Asker("api", "the API")  # who has the page's token, or needs none
HEARTBEAT_SECONDS = 5.0  # a client may give up after ten seconds of silence
MAX_IDEMPOTENCY_KEY = 255
SETTLE_SECONDS = 0.5
RETRY_SECONDS = 60  # where nothing says when a budget has room again
MESSAGES, UNSUPPORTED = "/v1/messages", "unsupported_api"
NO_MESSAGES = (
    "The council does not speak Anthropic's Messages API. Use POST /v1/chat/completions or "
    "POST /v1/responses, with an OpenAI client or provider."
)
KNOWN_PATHS = "The API has GET /v1/models, POST /v1/chat/completions and POST /v1/responses."
REUSED = "This Idempotency-Key was used for another request. Use a new key for each question."

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


# --- Who asks


async def authenticate(context: WebContext, request: Request) -> ApiKey | None:
    """Return the named key of a request; None for the page's token, or where none is needed.

    Raise ApiError (401) for a wrong, revoked or missing key, (404) for Anthropic's API without one,
    TooManyRequestsError for a token from an address that guessed too often. A key that somebody has
    or had is no guess.
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
    if request.scope["path"].startswith(MESSAGES) and not sent:
        raise ApiError(404, NO_MESSAGES, UNSUPPORTED)  # Anthropic's clients send no bearer token
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
    models = [_model_document(model) for model in _models(context, _key_of(request))]
    return JSONResponse({"object": "list", "data": models})


async def show_model(context: WebContext, request: Request) -> Response:
    """Return one panel that the key may ask, as a model; raise ApiError (404) for any other."""
    model = str(request.path_params["model"])
    _panel_of(context, _key_of(request), model)
    return JSONResponse(_model_document(model))


def _model_document(model: str) -> Document:
    return {"id": model, "object": "model", "created": 0, "owned_by": MODEL}


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
    _check_json(request)
    wanted = await asyncio.to_thread(parse_request, await request.body())
    if wanted.council:
        return await _decide(context, request, wanted, wanted.council)
    return await _answer(context, request, wanted, ChatCompletion)


def _check_json(request: Request) -> None:
    sent_as = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent_as != "application/json":
        # Another site's page could send any other type without asking first.
        raise ApiError(415, "Send the request as application/json.")


async def _answer(
    context: WebContext,
    request: Request,
    wanted: CompletionRequest,
    shape_of: Callable[[AnswerReader], Shape],
) -> Response:
    """Open the round of a request; return its answer, whole or as a stream."""
    round_ = await _open_round(context, request, wanted)
    reader = _reader(request, wanted, round_)
    if wanted.streams:
        events = _stream(reader, shape_of(reader), round_, _round_updates(context, round_))
        return event_stream(events, HEARTBEAT_SECONDS)
    async with context.app.runner.subscribe(round_.id) as snapshots:
        async for snapshot in snapshots:
            round_ = snapshot.round_
    return JSONResponse(shape_of(reader).whole(round_))


def _reader(request: Request, wanted: CompletionRequest, round_: Round) -> AnswerReader:
    return AnswerReader(wanted, f"{request.base_url}rounds/{round_.id}")


# --- Responses


async def create_response(context: WebContext, request: Request) -> Response:
    """Ask a panel; return its answer in the shape of the Responses API."""
    _check_json(request)
    wanted = await asyncio.to_thread(parse_response_request, await request.body())
    return await _answer(context, request, wanted, CouncilResponse)


async def show_response(context: WebContext, request: Request) -> Response:
    """Return a stored response of the key that asks."""
    wanted_id = str(request.path_params["id"])
    round_ = await _own_round(context, request, wanted_id)
    shape = CouncilResponse(_reader(request, _stored_request(context, round_), round_))
    if round_.forgotten:
        raise forgotten_error(round_.id, round_.forgotten.at)
    is_running = round_.closing is None and await context.app.runner.is_running(round_.id)
    return JSONResponse(shape.unfinished(round_) if is_running else shape.whole(round_))


def _stored_request(context: WebContext, round_: Round) -> CompletionRequest:
    """Return the request of a round, as far as it is stored, so that its answer reads as before."""
    question, panel = round_.question, round_.panel
    is_usual = panel.name == context.app.panel_name(question.place)
    return CompletionRequest(
        MODEL if is_usual else f"{MODEL}/{panel.name}",
        question.text,
        question.context,
        question.instructions,
        (),
        round_.seed,
        panel.terms.synthesis_tokens,
        False,
        form=AnswerForm(question.answer_schema),
        previous=f"{PREFIX}{question.place.thread}" if question.place.thread else "",
    )


async def _own_round(context: WebContext, request: Request, wanted: str) -> Round:
    """Return a round that the request's key has asked; raise ApiError (404) for any other."""
    round_id = wanted.removeprefix(PREFIX)
    with suppress(RoundNotFoundError):
        round_ = await context.app.store.load(round_id)
        if round_.question.asked_by == _asker_of(_key_of(request)).id:
            return round_
    raise ApiError(404, f"There is no response {wanted[:80]!r}, or not for this key.", "not_found")


async def refuse_messages(context: WebContext, request: Request) -> Response:
    """Raise ApiError (404), which says what to use instead of Anthropic's API."""
    raise ApiError(404, NO_MESSAGES, UNSUPPORTED)


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
    message = IncomingMessage(
        wanted.question,
        asker,
        _place_of(asker),
        round_id,
        files=wanted.files,
        instructions=wanted.instructions,
        answer_schema=wanted.form.schema,
        max_characters=2 * MAX_API_CHARACTERS,  # they are counted already, without their roles
    )
    if wanted.previous:
        await _own_round(context, request, wanted.previous)
        message = await follow_up(app, message, wanted.previous.removeprefix(PREFIX))
    earlier = "\n\n".join(filter(None, (message.context, wanted.context)))
    message = replace(message, context=earlier)
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
    reader = _reader(request, wanted, round_)
    shape = ChatCompletion(reader)
    if all(decision.key != key for decision in round_.decisions):
        round_ = await load_decidable(app, message, round_.id)
        points = [(one.point, one.says) for one in asked.decisions]
        running = await begin_decision(app, message, round_, points)
        if wanted.streams and running:
            updates = _decision_updates(running, key)
            events = _stream(reader, shape, running.state.round_, updates)
            return event_stream(events, HEARTBEAT_SECONDS)
        round_ = await follow_decision(running) if running else round_
    round_ = _as_decided(round_, key)
    if wanted.streams:
        return event_stream(_stream(reader, shape, round_, _once(round_)), HEARTBEAT_SECONDS)
    return JSONResponse(shape.whole(round_))


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


# --- Streams


async def _stream(
    reader: AnswerReader, shape: Shape, round_: Round, updates: AsyncIterator[tuple[Round, str]]
) -> AsyncIterator[Document]:
    """Yield the events of an answer as it is written, or the error that ends it.

    `updates` are a round and the part of its answer that nothing can change, unless another
    chairman takes over; the last one has the whole answer. The round runs on if the client leaves.
    """
    sent = ""
    for event in shape.begin(round_):
        yield event
    try:
        async for round_, draft in updates:  # noqa: PLR1704
            text = reader.settled(draft)
            if len(text) > len(sent) and text.startswith(sent):
                for event in shape.delta(round_, text[len(sent) :]):
                    yield event
                sent = text
        if rest := reader.rest(round_, sent):
            for event in shape.delta(round_, rest):
                yield event
        for event in shape.end(round_, sent + rest):
            yield event
    # The outermost handler of a stream: its headers are sent, so the error becomes an event.
    except Exception as error:  # noqa: BLE001
        for event in shape.failure(round_, _describe(error)[1]):
            yield event


async def _round_updates(context: WebContext, round_: Round) -> AsyncIterator[tuple[Round, str]]:
    async with context.app.runner.subscribe(round_.id) as snapshots:
        async for snapshot in snapshots:
            written = snapshot.round_.synthesis
            yield snapshot.round_, written.text if written else settled_draft(snapshot.draft)


async def _decision_updates(running: RunningDecision, key: str) -> AsyncIterator[tuple[Round, str]]:
    round_ = running.state.round_
    with running.subscription() as updates:
        async for snapshot in states(updates):
            round_ = snapshot.round_
            yield round_, settled_draft(snapshot.draft)
    yield _as_decided(round_, key), ""


async def _once(round_: Round) -> AsyncIterator[tuple[Round, str]]:
    yield round_, ""


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
    return {"x-should-retry": "false"} if status in {409, 502, 503} else {}


def _describe(error: Exception) -> tuple[int, Document]:
    """Return the status and the body of an error."""
    message, param = shell_hints(str(error)), None
    if isinstance(error, ApiError):
        status, code, param = error.status, error.code, error.param
    elif isinstance(error, HTTPException):
        status, code = error.status_code, None
        message = f"{error.detail}. {KNOWN_PATHS}"
    else:
        known = ((status, code) for kind, status, code in _STATUSES if isinstance(error, kind))
        status, code = next(known, (INTERNAL_ERROR, None))
    if status == INTERNAL_ERROR:
        message = logs.log_unexpected_error("api_failed", error)
    return status, error_document(status, message, code, param)
