"""Chat completion requests in OpenAI's shape: parsed, or refused by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.chat import clean_text
from council.errors import CouncilError

API = "/v1/"  # what the paths of the API begin with
MAX_API_BYTES = 1_000_000
TOO_MANY, INTERNAL_ERROR = 429, 500
_ROLES = {"system": "System", "developer": "System", "user": "User", "assistant": "Assistant"}
_TOOL_FIELDS = ("tools", "tool_choice", "functions", "function_call")
_UNASKED: tuple[object, ...] = (
    {},
    [],
    False,
    0,
    "",
    "none",
    "auto",
)  # what clients send for "no, thank you"


class ApiError(CouncilError):
    """A refusal in OpenAI's shape; `param` names the field that is at fault."""

    def __init__(
        self, status: int, message: str, code: str | None = None, param: str | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.param = status, code, param


def error_document(
    status: int, message: str, code: str | None = None, param: str | None = None
) -> dict[str, Any]:
    """Return the body of an error in OpenAI's shape."""
    kind = "server_error" if status >= INTERNAL_ERROR else "invalid_request_error"
    kind = "rate_limit_error" if status == TOO_MANY else kind
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


class StreamOptions(BaseModel):
    """What a stream has in addition to the answer."""

    include_usage: bool = False


class _Message(BaseModel):
    role: str
    content: Any = None


class _Body(BaseModel):
    """The fields that are read; every other field is ignored, unless `_check_refused` names it."""

    model_config = ConfigDict(strict=True, extra="allow")

    model: str = Field(max_length=200)
    messages: list[_Message] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    seed: int | str | None = None
    n: int | None = None
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A question for a model, with what may be chosen about its answer; `seed` may be None."""

    model: str
    question: str
    context: str
    seed: str | None
    max_tokens: int | None
    streams: bool
    include_usage: bool


def parse_request(body: bytes) -> CompletionRequest:
    """Return the request of a body; raise ApiError, which names the field at fault."""
    try:
        parsed = _Body.model_validate_json(body)
    except ValidationError as error:
        raise _invalid(error) from None
    _check_refused(parsed.n, parsed.model_extra or {})
    question, context = split_messages(parsed.messages)
    options = parsed.stream_options
    return CompletionRequest(
        parsed.model,
        question,
        context,
        None if parsed.seed is None else str(parsed.seed),
        parsed.max_completion_tokens or parsed.max_tokens,
        bool(parsed.stream),
        bool(options and options.include_usage),
    )


def _invalid(error: ValidationError) -> ApiError:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return ApiError(400, "The body is not valid JSON. Send one JSON object.")
    # A seed may be of two types, which pydantic names after the field.
    param = ".".join(str(part) for part in first["loc"] if part not in {"int", "str"}) or None
    why = "is required" if first["type"] == "missing" else f"is invalid: {first['msg']}"
    return ApiError(400, f"{param or 'The body'} {why}.", param=param)


def _check_refused(n: int | None, extra: Mapping[str, Any]) -> None:
    """Raise ApiError for what a council cannot do and what must not be ignored silently."""
    if n not in {None, 1}:
        raise _refusal("n", "A council writes one answer, so n must be 1.")
    for name in _TOOL_FIELDS:
        if _is_asked(extra.get(name)):
            raise _refusal(name, f"The council calls no tools. Leave out {name}.")
    form = extra.get("response_format")
    if _is_asked(form) and form != {"type": "text"}:
        raise _refusal(
            "response_format",
            'The council answers in text. Leave out response_format, or use "text".',
        )
    for name in ("logprobs", "top_logprobs"):
        if _is_asked(extra.get(name)):
            raise _refusal(name, f"The council has no token probabilities. Leave out {name}.")
    modalities = extra.get("modalities")
    if _is_asked(extra.get("audio")) or modalities not in (None, [], ["text"]):
        name = "audio" if _is_asked(extra.get("audio")) else "modalities"
        raise _refusal(name, f"The council neither hears nor speaks audio. Leave out {name}.")
    if _is_asked(extra.get("stop")):
        raise _refusal("stop", "The council has no stop sequences. Leave out stop.")


def _is_asked(value: object) -> bool:
    return value is not None and value not in _UNASKED


def _refusal(param: str, message: str) -> ApiError:
    return ApiError(400, message, "unsupported_parameter", param)


def split_messages(messages: Sequence[_Message]) -> tuple[str, str]:
    """Return the last user message, which is the question, and the others as its context."""
    roles = [message.role for message in messages]
    for i, role in enumerate(roles):
        if role not in _ROLES:
            what = f"The council takes no {role[:20]!r} messages. Leave them out."
            raise ApiError(400, what, "unsupported_value", f"messages.{i}.role")
    if "user" not in roles:
        raise ApiError(
            400, "No message is from the user, so there is no question.", None, "messages"
        )
    asked = len(roles) - 1 - roles[::-1].index("user")
    if "assistant" in roles[asked:]:
        what = "The council continues no answers. End the messages with one from the user."
        raise ApiError(400, what, "unsupported_value", "messages")
    texts = [message_text(message.content, f"messages.{i}") for i, message in enumerate(messages)]
    question = clean_text(texts[asked])
    if not question:
        raise ApiError(400, "The last user message is empty.", None, f"messages.{asked}.content")
    context = [
        f"{_ROLES[role]}: {text}"
        for i, (role, text) in enumerate(zip(roles, texts, strict=True))
        if i != asked and text.strip()
    ]
    return question, "\n\n".join(context)


def message_text(content: object, param: str) -> str:
    """Return the text of a message's content; raise ApiError for a part that is not text."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = []
    for i, part in enumerate(content if isinstance(content, list) else [content]):
        kind = part.get("type") if isinstance(part, dict) else None
        text = part.get("text") if isinstance(part, dict) else None
        if kind != "text" or not isinstance(text, str):
            name = str(kind)[:40] if kind else "unknown"
            what = f"The council reads text only, and this part is of the type {name!r}."
            raise ApiError(400, what, "unsupported_value", f"{param}.content.{i}")
        parts.append(text)
    return "\n".join(parts)
