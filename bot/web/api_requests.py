"""Chat completion requests in OpenAI's shape: parsed, or refused by name."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    StringConstraints,
    ValidationError,
)

from bot.chat import MAX_RAW_CHARACTERS, Attachment, check_length, clean_text
from council.errors import CouncilError
from council.files import MAX_TOTAL_BYTES

API = "/v1/"  # what the paths of the API begin with
MAX_API_BYTES = 1_000_000 + MAX_TOTAL_BYTES * 4 // 3  # files are sent as Base64
TOO_MANY, INTERNAL_ERROR = 429, 500
MAX_MESSAGES = 1_000
# Values of the JSON and escapes in it. Parsing holds Python's global lock, so it must be short;
# no question within its limits has as many.
_MAX_MARKS = 50_000
_MARKS = (b",", b"[", b"{", rb"\u")
_SLICE_BYTES = 1_000_000  # others run between two slices
_ROLES = {"user": "User", "assistant": "Assistant"}
_BINDING = ("system", "developer")  # their messages are instructions, not context
# Parts of a message that hold a file, and the field with its data.
_FILE_PARTS = {"image_url": "url", "file": "file_data"}
# What a council cannot do, by the field that asks for it.
_REFUSED = {
    **dict.fromkeys(("tools", "tool_choice", "functions", "function_call"), "calls no tools"),
    **dict.fromkeys(("logprobs", "top_logprobs"), "has no token probabilities"),
    "stop": "has no stop sequences",
}
# What clients send for "no, thank you".
_UNASKED: tuple[object, ...] = ({}, [], False, 0, "", "none", "auto")


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


Seed = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")]


class DecidedPoint(BaseModel):
    """A disputed point of a round, and the position that holds."""

    model_config = ConfigDict(strict=True, extra="forbid")

    point: str = Field(max_length=1_000)
    says: str = Field(max_length=1_000)


class CouncilRequest(BaseModel):
    """What the field `council` asks for: the answer of a round once more, with these decisions."""

    model_config = ConfigDict(strict=True, extra="forbid")

    round_id: str = Field(max_length=200)
    decisions: Annotated[list[DecidedPoint], Field(min_length=1, max_length=10)]


class _Message(BaseModel):
    role: str
    content: Any = None


class _Body(BaseModel):
    """The fields that are read; every other field is ignored, unless `_check_refused` names it."""

    model_config = ConfigDict(strict=True, extra="allow")

    model: str = Field(max_length=200)
    messages: Annotated[list[_Message], Field(min_length=1, max_length=MAX_MESSAGES), FailFast()]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    seed: int | Seed | None = None
    n: int | None = None
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    council: CouncilRequest | None = None


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A question for a model, with what may be chosen about its answer; `seed` may be None.

    With `council`, a round's own question is answered once more instead.
    """

    model: str
    question: str
    context: str
    instructions: str
    files: tuple[Attachment, ...]
    seed: str | None
    max_tokens: int | None
    streams: bool
    include_usage: bool
    council: CouncilRequest | None = None


def parse_request(body: bytes) -> CompletionRequest:
    """Return the request of a body; raise ApiError, which names the field at fault.

    Raise QuestionError, before any text is cleaned, if there is far too much of it.
    """
    check_json_size(body)
    try:
        parsed = _Body.model_validate_json(body)
    except ValidationError as error:
        raise _invalid(error) from None
    _check_refused(parsed.n, parsed.model_extra or {})
    question, context, instructions, files = _split_messages(parsed.messages)
    options = parsed.stream_options
    return CompletionRequest(
        parsed.model,
        question,
        context,
        instructions,
        files,
        None if parsed.seed is None else str(parsed.seed),
        parsed.max_completion_tokens or parsed.max_tokens,
        bool(parsed.stream),
        bool(options and options.include_usage),
        parsed.council,
    )


def check_json_size(body: bytes) -> None:
    """Raise ApiError (413) for JSON with so many values that parsing it would delay others."""
    slices = range(0, len(body), _SLICE_BYTES)
    if (
        sum(body.count(mark, at, at + _SLICE_BYTES) for at in slices for mark in _MARKS)
        > _MAX_MARKS
    ):
        raise ApiError(413, "The request has too many values. Send fewer or shorter messages.")


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
    for name, why in _REFUSED.items():
        if _is_asked(extra.get(name)):
            raise _refusal(name, f"The council {why}. Leave out {name}.")
    form = extra.get("response_format")
    if _is_asked(form) and form != {"type": "text"}:
        raise _refusal(
            "response_format",
            'The council answers in text. Leave out response_format, or use "text".',
        )
    modalities = extra.get("modalities")
    if _is_asked(extra.get("audio")) or modalities not in (None, [], ["text"]):
        name = "audio" if _is_asked(extra.get("audio")) else "modalities"
        raise _refusal(name, f"The council neither hears nor speaks audio. Leave out {name}.")


def _is_asked(value: object) -> bool:
    return value is not None and value not in _UNASKED


def _refusal(param: str, message: str) -> ApiError:
    return ApiError(400, message, "unsupported_parameter", param)


def _split_messages(messages: Sequence[_Message]) -> tuple[str, str, str, tuple[Attachment, ...]]:
    """Return the question, its context, its instructions and all files.

    The question is the last user message, the instructions are the system and developer messages,
    and the others are the context.
    """
    roles = [message.role for message in messages]
    for i, role in enumerate(roles):
        if role not in _ROLES and role not in _BINDING:
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
    read = [_read_content(message.content, f"messages.{i}") for i, message in enumerate(messages)]
    texts = [text for text, _ in read]
    check_length(*texts, limit=MAX_RAW_CHARACTERS)
    question = clean_text(texts[asked])
    if not question:
        raise ApiError(400, "The last user message is empty.", None, f"messages.{asked}.content")
    context = [
        f"{_ROLES[role]}: {text}"
        for i, (role, text) in enumerate(zip(roles, texts, strict=True))
        if i != asked and role in _ROLES and text.strip()
    ]
    instructions = "\n\n".join(
        text for role, text in zip(roles, texts, strict=True) if role in _BINDING and text.strip()
    )
    files = tuple(file for _, files in read for file in files)
    return question, "\n\n".join(context), instructions, files


def _read_content(content: object, param: str) -> tuple[str, list[Attachment]]:
    """Return the text and the files of a message's content.

    Raise ApiError for a part of an unknown type, and for a file that is not sent along.
    """
    if content is None or isinstance(content, str):
        return content or "", []
    texts: list[str] = []
    files: list[Attachment] = []
    for i, item in enumerate(content if isinstance(content, list) else [content]):
        part = item if isinstance(item, dict) else {}
        where, kind = f"{param}.content.{i}", str(part.get("type") or "")
        if kind == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind in _FILE_PARTS:
            files.append(_read_file(kind, part, where))
        else:
            name = kind[:40] or "unknown"
            what = f"The council reads text, images and files, not parts of the type {name!r}."
            raise ApiError(400, what, "unsupported_value", where)
    return "\n".join(texts), files


def _read_file(kind: str, part: Mapping[str, Any], where: str) -> Attachment:
    holder, field = part.get(kind), _FILE_PARTS[kind]
    holder = holder if isinstance(holder, dict) else {field: holder}
    name = str(holder.get("filename") or ("image" if kind == "image_url" else "file"))
    return Attachment.of(name, _decoded(str(holder.get(field) or ""), where))


def _decoded(data: str, where: str) -> bytes:
    head, _, body = data.rpartition(",")
    try:
        if not head or (head.startswith("data:") and head.lower().endswith(";base64")):
            return base64.b64decode("".join(body.split()), validate=True)
    except ValueError:
        pass
    what = "Send the file itself, as data:…;base64,…; the council fetches no addresses."
    raise ApiError(400, what, "unsupported_value", where)
