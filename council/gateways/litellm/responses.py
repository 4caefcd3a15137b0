"""Calls to litellm: request arguments; parsing of replies, streams, sources, log-probabilities."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from itertools import cycle
from math import isfinite
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from council.answers import Call, Logprobs, Reply, Role, Scores, Source, storable_text
from council.errors import GatewayError
from council.files import IMAGE_TOKENS
from council.gateways.litellm.client import SEARCH_TOKENS, SEARCH_USD, SeatSettings
from council.prompts.answer import split_turns

OnText = Callable[[str], None]

MAX_CHUNKS = 30_000  # of a stream, for 64,000 characters; litellm keeps them all until its end
MAX_ANSWER_CHARACTERS = 64_000
MAX_MODEL_CHARACTERS = 200
# A token has at least one byte, and the provider's own template around the prompt has some.
_TEMPLATE_TOKENS = 4_000
_MAX_TOKENS_OUT = 200_000  # without a limit of its own, reasoning included


class StreamInterruptedError(Exception):
    """A stream ended before the model did."""


@dataclass(frozen=True, slots=True)
class RawReply:
    """A model's reply before it is checked; missing counts are None."""

    text: str
    finish: str | None
    reasoned: bool
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    sources: tuple[Source, ...] = ()
    logprobs: Logprobs = ()
    model: str = ""


def request_arguments(library: ModuleType, seat: SeatSettings, call: Call) -> dict[str, Any]:
    """Return litellm's arguments for this call, without its own retries."""
    searches = seat.web_search and call.role is Role.ANSWER
    arguments: dict[str, Any] = {
        "model": seat.model,
        "messages": _messages(seat, call),
        "web_search_options": {"search_context_size": "medium"} if searches else None,
        "api_base": seat.api_base,
        # The OpenAI SDK requires a key; a private server does not. At OpenAI itself, litellm looks
        # for one.
        "api_key": seat.api_key or ("unused" if seat.route == "openai" and seat.api_base else None),
        "max_tokens": seat.max_tokens,
        "temperature": call.temperature,
        "response_format": _response_format(library, seat, call),
        "logprobs": True if call.top_logprobs else None,
        "top_logprobs": call.top_logprobs,
        "extra_headers": dict(seat.headers) or None,
    }
    if (seat.stream or call.on_text) and not searches:
        arguments |= {"stream": True, "stream_options": {"include_usage": True}}
    # As a global setting, drop_params would turn a 422 into neither a reply nor an error.
    switches = {"num_retries": 0, "max_retries": 0, "drop_params": True}
    return switches | {name: value for name, value in arguments.items() if value is not None}


def _messages(seat: SeatSettings, call: Call) -> list[dict[str, Any]]:
    turns = split_turns(call.prompt.user) if seat.splits_turns else (call.prompt.user,)
    roles = cycle(("user", "assistant"))
    messages = (("system", call.prompt.system), *zip(roles, turns, strict=False))
    said: list[dict[str, Any]] = [
        {"role": role, "content": text} for role, text in messages if text
    ]
    if call.images:
        images = (
            {"type": "image_url", "image_url": {"url": image.data_url}} for image in call.images
        )
        said[-1]["content"] = [{"type": "text", "text": call.prompt.user}, *images]
    return said


def _response_format(
    library: ModuleType, seat: SeatSettings, call: Call
) -> dict[str, object] | None:
    if call.schema is None or not (
        seat.tighten or library.supports_response_schema(model=seat.model)
    ):
        return None
    schema = (seat.tighten or dict)(call.schema)
    return {
        "type": "json_schema",
        "json_schema": {"name": "ballot", "strict": True, "schema": schema},
    }


async def send_request(
    library: ModuleType, sent: dict[str, Any], on_text: OnText | None
) -> RawReply:
    """Send one request and return the reply; raise StreamInterruptedError for a partial stream."""
    reply = await library.acompletion(**sent)
    if sent.get("stream"):
        return await _read_stream(library, sent, reply, on_text)
    choice = reply.choices[0]
    counts = _token_counts(getattr(reply, "usage", None), sent)
    tokens_in, tokens_out = counts or (None, None)
    claimed = reply._hidden_params.get("response_cost")
    text = choice.message.content or ""
    return RawReply(
        text,
        choice.finish_reason,
        bool(getattr(choice.message, "reasoning_content", None)),
        tokens_in,
        tokens_out,
        _cost(library, sent, counts, claimed),
        find_sources(reply.model_dump()) if sent.get("web_search_options") else (),
        number_logprobs([reply], text) if sent.get("logprobs") else (),
        _model_name(reply),
    )


def _model_name(reply: Any) -> str:  # noqa: ANN401 - litellm's, or a chunk
    """Return what the provider calls the model; "" if it does not say."""
    name = getattr(reply, "model", None)
    return storable_text(name)[:MAX_MODEL_CHARACTERS] if isinstance(name, str) else ""


async def _read_stream(
    library: ModuleType,
    sent: dict[str, Any],
    stream: Any,  # noqa: ANN401 - litellm's
    on_text: OnText | None,
) -> RawReply:
    text, reasoned, usage, chunks, model = "", False, None, 0, ""
    async with aclosing(stream):
        async for chunk in stream:
            chunks += 1
            if chunks > MAX_CHUNKS:
                from council.gateways.litellm.transport import ReplyTooLargeError

                raise ReplyTooLargeError("the stream is too long")
            if len(text) > MAX_ANSWER_CHARACTERS:
                return RawReply(text, "length", reasoned, model=model)
            usage = getattr(chunk, "usage", None) or usage
            model = model or _model_name(chunk)
            delta = chunk.choices[0].delta if chunk.choices else None
            reasoned = reasoned or bool(getattr(delta, "reasoning_content", None))
            delta_text = getattr(delta, "content", None)
            if delta_text:
                text += delta_text
                if on_text:
                    on_text(text)
    # litellm invents a "stop" and a usage for a stream that has neither.
    finish = stream.received_finish_reason or stream.intermittent_finish_reason
    if finish is None:
        raise StreamInterruptedError
    if not any(getattr(chunk, "usage", None) for chunk in stream.chunks):
        usage = None
    counts = _token_counts(usage, sent)
    tokens_in, tokens_out = counts or (None, None)
    claimed = None
    with suppress(Exception):
        claimed = sum(library.cost_per_token(model=sent["model"], usage_object=usage))
    cost = _cost(library, sent, counts, claimed)
    logprobs = number_logprobs(stream.chunks, text) if sent.get("logprobs") else ()
    return RawReply(
        text, finish, reasoned, tokens_in, tokens_out, cost, logprobs=logprobs, model=model
    )


def _cost(
    library: ModuleType,
    sent: Mapping[str, Any],
    counts: tuple[int, int] | None,
    claimed: float | None,
) -> float | None:
    """Return the claimed cost, but at most the price of tokens and search; None without a price.

    The claim also rests on what the provider says, such as headers and counts of cached tokens.
    """
    if not counts:
        return None
    # It raises a plain Exception for a model without a price; then the cost is unknown.
    with suppress(Exception):
        tokens = {"prompt_tokens": counts[0], "completion_tokens": counts[1]}
        most: float = sum(library.cost_per_token(model=sent["model"], **tokens))
        if sent.get("web_search_options"):
            most += SEARCH_USD
        return (claimed if claimed and 0 < claimed < most else most) or None
    return None


def _token_counts(
    usage: Any,  # noqa: ANN401 - litellm's
    sent: Mapping[str, Any],
) -> tuple[int, int] | None:
    """Return the tokens in and out; None if missing, or more than was sent or allowed."""
    if not usage:
        return None
    tokens_in, tokens_out = usage.prompt_tokens, usage.completion_tokens or 0
    prompt = sum(map(_most_tokens, sent["messages"]))
    prompt += SEARCH_TOKENS if sent.get("web_search_options") else 0
    most_out = (sent.get("max_tokens") or _MAX_TOKENS_OUT) + _TEMPLATE_TOKENS
    if not (0 < tokens_in <= prompt + _TEMPLATE_TOKENS and 0 <= tokens_out <= most_out):
        return None
    return tokens_in, tokens_out


def _most_tokens(message: Mapping[str, Any]) -> int:
    content = message["content"]
    if isinstance(content, str):
        return len(content.encode())
    return sum(len(part["text"].encode()) if "text" in part else IMAGE_TOKENS for part in content)


def build_reply(raw: RawReply, seat: SeatSettings, attempts: int, seconds: float) -> Reply:
    """Return the reply in the council's terms; raise GatewayError if it is unusable."""
    if raw.finish == "content_filter":
        raise GatewayError("was stopped by the provider's content filter")
    if not raw.text.strip():
        spent = " on reasoning" if raw.reasoned else ""
        raise GatewayError(
            f"spent its whole token limit{spent} and wrote no answer"
            if raw.finish == "length"
            else "gave an empty answer"
        )
    cost = seat.own_cost(raw.tokens_in, raw.tokens_out)
    if cost is None and not seat.is_private:
        cost = raw.cost_usd
    text = storable_text(raw.text[:MAX_ANSWER_CHARACTERS])
    return Reply(
        text,
        cut=raw.finish == "length" or len(raw.text) > MAX_ANSWER_CHARACTERS,
        tokens_in=raw.tokens_in,
        tokens_out=raw.tokens_out,
        cost_usd=cost,
        seconds=seconds,
        attempts=attempts,
        sources=raw.sources,
        logprobs=raw.logprobs if text == raw.text else (),
        reported_model=raw.model,
    )


# --- Sources of a web search, in the shapes of all providers

MAX_SOURCES = 20
MAX_TITLE_CHARACTERS = 200
MAX_URL_CHARACTERS = 2_000
_MAX_DEPTH = 6
# Where providers put them: OpenAI and Anthropic in the message, the others in the reply.
_IN_MESSAGE = ("annotations", "provider_specific_fields")
_IN_REPLY = ("search_results", "citations", "vertex_ai_grounding_metadata")


def find_sources(reply: Mapping[str, Any]) -> tuple[Source, ...]:
    """Return the web pages that a reply cites, each once; other addresses than http are dropped."""
    message = reply["choices"][0]["message"]
    places = [message.get(name) for name in _IN_MESSAGE] + [reply.get(name) for name in _IN_REPLY]
    found: dict[str, Source] = {}
    for title, url in _walk(places, _MAX_DEPTH):
        if _is_web_address(url):
            name = " ".join(storable_text(title).split())[:MAX_TITLE_CHARACTERS]
            found.setdefault(url, Source(name or urlsplit(url).hostname or "", url))
    return tuple(found.values())[:MAX_SOURCES]


def _walk(value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the title and address of each link at any depth; a bare address has no title."""
    if depth < 0:
        return
    if isinstance(value, str):
        yield "", value
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, depth - 1)
    elif isinstance(value, dict):
        url, title = value.get("url") or value.get("uri"), value.get("title")
        if isinstance(url, str):
            yield title if isinstance(title, str) else "", url
            return
        for item in value.values():
            if not isinstance(item, str):
                yield from _walk(item, depth - 1)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname)
    except ValueError:
        return False
    is_plain = url.isprintable() and " " not in url and len(url) <= MAX_URL_CHARACTERS
    return parts.scheme in {"http", "https"} and named and is_plain


# --- Log-probabilities, in OpenAI's shape

MAX_NUMBERS = 64  # the last ones
MAX_ALTERNATIVES = 20
_NUMBER = re.compile(rb"(\s*)([0-9]{1,3})\s*")
_DIGITS = 6


def number_logprobs(chunks: Iterable[Any], text: str) -> Logprobs:
    """Return the log-probabilities of each token that is a whole number, from litellm's chunks.

    () if the tokens have another shape, or do not hold the text exactly once: thinking and code
    fences, which servers remove from texts, may surround it.
    """
    try:
        choices = (choice for chunk in chunks for choice in chunk.choices[:1])
        found = (getattr(choice, "logprobs", None) for choice in choices)
        tokens = [token for one in found if one for token in one.content or ()]
        encoded, pieces = text.encode(), [_bytes(token) for token in tokens]
        before, _after = b"".join(pieces).split(encoded)
        numbers = [*_numbers(tokens, pieces, -len(before))]
        return tuple(
            (len(encoded[:start].decode()), alternatives)
            for start, token in numbers[-MAX_NUMBERS:]
            if 0 <= start < len(encoded) and (alternatives := _alternatives(token))
        )
    except (AttributeError, TypeError, ValueError):
        return ()


def _numbers(
    tokens: Sequence[Any], pieces: Sequence[bytes], start: int
) -> Iterator[tuple[int, Any]]:
    """Yield each token that is a number with the place of its first digit, counted in bytes."""
    for token, piece in zip(tokens, pieces, strict=True):
        if number := _NUMBER.fullmatch(piece):
            yield start + number.start(2), token
        start += len(piece)


def _alternatives(token: Any) -> Scores:  # noqa: ANN401 - litellm's
    """Return the token and its alternatives that are numbers; () if a value is not finite."""
    listed = {_bytes(one): float(one.logprob) for one in token.top_logprobs[:MAX_ALTERNATIVES]}
    listed.setdefault(_bytes(token), float(token.logprob))
    if not all(map(isfinite, listed.values())):
        return ()
    # Rounded values without a negative zero are the same from every database.
    return tuple(
        (number[2].decode(), round(logprob, _DIGITS) + 0.0)
        for piece, logprob in listed.items()
        if (number := _NUMBER.fullmatch(piece))
    )


def _bytes(token: Any) -> bytes:  # noqa: ANN401 - litellm's
    """Return the bytes of a token; it may end within a character, and then its text cannot say."""
    return token.token.encode() if token.bytes is None else bytes([*token.bytes])
