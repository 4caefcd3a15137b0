"""One attempt: what is sent to litellm, and what comes back, read from a reply or a stream."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

from council.calls import Call, Reply
from council.errors import GatewayError
from council.gateways.litellm.faults import BrokenOffError
from council.gateways.litellm.seats import SeatSettings

OnText = Callable[[str], None]

_MOST_TOKENS = 2**31 - 1


class Usage(Protocol):
    """Tokens as litellm counts them; 0 where the provider did not."""

    prompt_tokens: int
    completion_tokens: int


class Stream(Protocol):
    """A stream of litellm's, and what the provider itself put into it."""

    received_finish_reason: str | None
    intermittent_finish_reason: str | None
    chunks: list[Any]

    def __aiter__(self) -> AsyncIterator[Any]:
        """Give litellm's chunks."""

    async def aclose(self) -> None:
        """Let go of the connection."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a model sent, before it is judged usable. Counts nobody gave are None."""

    text: str
    finish: str | None
    reasoned: bool
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


def arguments(library: ModuleType, seat: SeatSettings, call: Call) -> dict[str, Any]:
    """Give litellm's arguments for this call, its own retries switched off."""
    spoken = (("system", call.prompt.system), ("user", call.prompt.user))
    wanted: dict[str, Any] = {
        "model": seat.model,
        "messages": [{"role": role, "content": text} for role, text in spoken if text],
        "api_base": seat.api_base,
        # The OpenAI SDK refuses to start without a key; a server of one's own wants none.
        "api_key": seat.api_key or ("unused" if seat.route == "openai" else None),
        "max_tokens": seat.max_tokens,
        "temperature": call.temperature,
        "response_format": _response_format(library, seat, call),
        "extra_headers": dict(seat.headers) or None,
    }
    if seat.stream or call.on_text:
        wanted |= {"stream": True, "stream_options": {"include_usage": True}}
    # As a setting of the library, drop_params would turn a 422 into no reply and no error.
    switches = {"num_retries": 0, "max_retries": 0, "drop_params": True}
    return switches | {name: value for name, value in wanted.items() if value is not None}


def _response_format(
    library: ModuleType, seat: SeatSettings, call: Call
) -> dict[str, object] | None:
    if call.schema is None:
        return None
    if seat.tighten:
        schema = seat.tighten(call.schema)
    elif library.supports_response_schema(model=seat.model):
        schema = dict(call.schema)
    else:
        return None
    return {
        "type": "json_schema",
        "json_schema": {"name": "ballot", "strict": True, "schema": schema},
    }


async def attempt(library: ModuleType, sent: dict[str, Any], on_text: OnText | None) -> Spoken:
    """Send one request and read what comes; a stream that stops short is a BrokenOffError."""
    reply = await library.acompletion(**sent)
    if sent.get("stream"):
        return await _heard(library, sent["model"], reply, on_text)
    choice = reply.choices[0]
    tokens_in, tokens_out = _counts(getattr(reply, "usage", None))
    return Spoken(
        choice.message.content or "",
        choice.finish_reason,
        bool(getattr(choice.message, "reasoning_content", None)),
        tokens_in,
        tokens_out,
        reply._hidden_params.get("response_cost") or None,  # litellm's 0.0 is a guess
    )


async def _heard(library: ModuleType, model: str, stream: Stream, on_text: OnText | None) -> Spoken:
    text, reasoned, usage = "", False, None
    async with aclosing(stream):
        async for chunk in stream:
            usage = getattr(chunk, "usage", None) or usage
            delta = chunk.choices[0].delta if chunk.choices else None
            reasoned = reasoned or bool(getattr(delta, "reasoning_content", None))
            news = getattr(delta, "content", None)
            if news:
                text += news
                if on_text:
                    on_text(text)
    # litellm makes up a "stop" and a usage for a stream that has neither.
    finish = stream.received_finish_reason or stream.intermittent_finish_reason
    if finish is None:
        raise BrokenOffError
    if not any(getattr(chunk, "usage", None) for chunk in stream.chunks):
        usage = None
    tokens_in, tokens_out = _counts(usage)
    return Spoken(
        text, finish, reasoned, tokens_in, tokens_out, _stream_cost(library, model, usage)
    )


def _counts(usage: Usage | None) -> tuple[int | None, int | None]:
    # No prompt has 0 tokens, and nothing has so many that no database keeps their number.
    if not usage or not usage.prompt_tokens:
        return None, None
    if max(usage.prompt_tokens, usage.completion_tokens or 0) > _MOST_TOKENS:
        return None, None
    return usage.prompt_tokens, usage.completion_tokens


def _stream_cost(library: ModuleType, model: str, usage: Usage | None) -> float | None:
    if not usage:
        return None
    # It raises a plain Exception for a model without a price: then the cost is unknown.
    with suppress(Exception):
        return sum(library.cost_per_token(model=model, usage_object=usage)) or None
    return None


def reply(spoken: Spoken, seat: SeatSettings, attempts: int, seconds: float) -> Reply:
    """Give the reply the port promises; raise GatewayError when there is nothing in it."""
    _refuse_nothing(spoken)
    cost = seat.own_cost(spoken.tokens_in, spoken.tokens_out)
    if cost is None and not seat.is_ours:
        cost = spoken.cost_usd
    return Reply(
        _storable(spoken.text),
        cut=spoken.finish == "length",
        tokens_in=spoken.tokens_in,
        tokens_out=spoken.tokens_out,
        cost_usd=cost,
        seconds=seconds,
        attempts=attempts,
    )


def _storable(text: str) -> str:
    """Give the text without what no database keeps: NUL, and halves of characters."""
    return text.replace("\0", "").encode(errors="replace").decode()


def _refuse_nothing(spoken: Spoken) -> None:
    if spoken.finish == "content_filter":
        raise GatewayError("was stopped by the provider's content filter")
    if spoken.text.strip():
        return
    if spoken.finish == "length":
        spent = " on reasoning" if spoken.reasoned else ""
        raise GatewayError(f"spent its whole token limit{spent} and wrote no answer")
    raise GatewayError("gave an empty answer")
