"""Chat completion requests in OpenAI's shape: parsed, or refused by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    StringConstraints,
    ValidationError,
)

from bot.chat import Attachment
from bot.web.api_errors import ApiError, refusal
from bot.web.api_forms import TEXT, AnswerForm, is_asked, read_form
from bot.web.api_turns import Turn, call_line, join_turns, read_content
from council.files import MAX_TOTAL_BYTES

API = "/v1/"  # what the paths of the API begin with
MAX_API_BYTES = 2_000_000 + MAX_TOTAL_BYTES * 4 // 3  # files are sent as Base64
MAX_MESSAGES = 1_000
# Values of the JSON and escapes in it. Parsing holds Python's global lock, so it must be short;
# hardly any question within its limits has as many.
_EXPECTED = "Input should be "  # how pydantic begins to say what it wants
_MAX_MARKS = 250_000
_MARKS = (b",", b"[", b"{", rb"\u")
_SLICE_BYTES = 1_000_000  # others run between two slices
# What a council cannot do, by the field that asks for it.
_REFUSED = {
    **dict.fromkeys(("functions", "function_call"), "takes functions as tools only"),
    **dict.fromkeys(("logprobs", "top_logprobs"), "has no token probabilities"),
}
_Kind = TypeVar("_Kind", bound=BaseModel)
_MAX_STOPS, _MAX_STOP = 16, 200


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
    tool_calls: Any = None


class _Body(BaseModel):
    """The fields that are read; every other field is ignored, unless `check_refused` names it."""

    model_config = ConfigDict(strict=True, extra="allow")

    model: str = Field(max_length=200)
    messages: Annotated[list[_Message], Field(min_length=1, max_length=MAX_MESSAGES), FailFast()]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    seed: int | Seed | None = None
    stop: str | list[str] | None = None
    n: int | None = None
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    council: CouncilRequest | None = None


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A question for a model, with what may be chosen about its answer; `seed` may be None.

    With `council`, a round's own question is answered once more instead. `previous` is the id of
    the response that the question follows, "" for none. The answer ends before the first of its
    `stops`.
    """

    model: str
    question: str
    context: str
    instructions: str
    files: tuple[Attachment, ...]
    seed: str | None
    max_tokens: int | None
    streams: bool
    include_usage: bool = False
    council: CouncilRequest | None = None
    form: AnswerForm = TEXT
    stops: tuple[str, ...] = ()
    previous: str = ""


def parse_request(body: bytes) -> CompletionRequest:
    """Return the request of a body; raise ApiError, which names the field at fault.

    Far too much text is refused before it is cleaned.
    """
    parsed = read_body(body, _Body)
    extra = parsed.model_extra or {}
    check_refused(parsed.n, extra)
    form = read_form(
        extra.get("tools"),
        extra.get("tool_choice"),
        extra.get("response_format"),
        "response_format",
    )
    asked = join_turns([_turn(one, f"messages.{i}") for i, one in enumerate(parsed.messages)])
    options = parsed.stream_options
    return CompletionRequest(
        parsed.model,
        asked.question,
        asked.context,
        asked.instructions,
        asked.files,
        None if parsed.seed is None else str(parsed.seed),
        parsed.max_completion_tokens or parsed.max_tokens,
        bool(parsed.stream),
        bool(options and options.include_usage),
        parsed.council,
        form,
        read_stops(parsed.stop),
    )


def read_stops(stop: str | list[str] | None) -> tuple[str, ...]:
    """Return the texts that end an answer; raise ApiError for too many or too long ones."""
    stops = [stop] if isinstance(stop, str) else stop or []
    if len(stops) > _MAX_STOPS or any(len(one) > _MAX_STOP for one in stops):
        what = f"stop has at most {_MAX_STOPS} texts of at most {_MAX_STOP} characters."
        raise ApiError(400, what, None, "stop")
    return tuple(filter(None, stops))


def read_body(body: bytes, kind: type[_Kind]) -> _Kind:
    """Return a body as a model of its fields; raise ApiError, which names the field at fault."""
    _check_json_size(body)
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise _invalid(error) from None


def _check_json_size(body: bytes) -> None:
    """Raise ApiError (413) for JSON with so many values that parsing it would delay others."""
    slices = range(0, len(body), _SLICE_BYTES)
    if (
        sum(body.count(mark, at, at + _SLICE_BYTES) for at in slices for mark in _MARKS)
        > _MAX_MARKS
    ):
        raise ApiError(413, "The request has too many values. Send fewer or shorter messages.")


def _invalid(error: ValidationError) -> ApiError:
    first, *more = error.errors(include_url=False, include_input=False, include_context=False)
    if first["type"] == "json_invalid":
        return ApiError(400, "The body is not valid JSON. Send one JSON object.")
    param = _param(first["loc"])
    # Of a field that may have one of two types, pydantic has a fault for each.
    faults = [first, *(one for one in more if _param(one["loc"]) == param)]
    faults = [one for one in faults if not one["type"].endswith("_type")] or faults
    said, *or_else = [one["msg"] for one in faults]
    said = " or ".join([said, *(words.removeprefix(_EXPECTED) for words in or_else)])
    why = "is required" if first["type"] == "missing" else f"is invalid: {said}"
    return ApiError(400, f"{param or 'The body'} {why}.", param=param)


def _param(location: Iterable[int | str]) -> str | None:
    """Return the name of a field, without the types that pydantic adds to that of a union."""
    return ".".join(str(part) for part in location if not _is_type(part)) or None


def _is_type(part: int | str) -> bool:
    return part in {"int", "str"} or str(part).startswith("list[")


def check_refused(n: int | None, extra: Mapping[str, Any]) -> None:
    """Raise ApiError for what a council cannot do and what must not be ignored silently."""
    if n not in {None, 1}:
        raise refusal("n", "A council writes one answer, so n must be 1.")
    for name, why in _REFUSED.items():
        if is_asked(extra.get(name)):
            raise refusal(name, f"The council {why}. Leave out {name}.")
    modalities = extra.get("modalities")
    if is_asked(extra.get("audio")) or modalities not in (None, [], ["text"]):
        name = "audio" if is_asked(extra.get("audio")) else "modalities"
        raise refusal(name, f"The council neither hears nor speaks audio. Leave out {name}.")


def _turn(message: _Message, where: str) -> Turn:
    text, files = read_content(message.content, where)
    calls = message.tool_calls if isinstance(message.tool_calls, list) else []
    lines = [call_line(call.get("function")) for call in calls if isinstance(call, dict)]
    return Turn(message.role, "\n".join(filter(None, (text, *lines))), files, where, bool(lines))
