"""Ready-made behaviours: how a scripted model plays its role, or fails in it.

Reads prompts by the ballot contract alone, never by the council's own code.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import log
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """One chat completion as it was asked for; `at` is the event loop's clock, in seconds."""

    model: str
    messages: tuple[Mapping[str, object], ...]
    body: Mapping[str, object]
    headers: Mapping[str, str]
    at: float

    @property
    def system(self) -> str:
        return self._said_by("system")

    @property
    def user(self) -> str:
        return self._said_by("user")

    def _said_by(self, role: str) -> str:
        return "\n".join(_text(m["content"]) for m in self.messages if m["role"] == role)


def _text(content: object) -> str:
    parts = content if isinstance(content, list) else [{"text": content}]
    return "".join(str(part.get("text", "")) for part in parts)


@dataclass(frozen=True, slots=True)
class Say:
    """A reply. Without `ends` a stream stops short of its finish_reason."""

    text: str
    finish_reason: str = "stop"
    reasoning: str | None = None
    seconds: float | None = None  # before the first byte; None is the server's latency
    drip_seconds: float = 0.0  # between the chunks of a stream
    ends: bool = True
    message: Mapping[str, object] = field(default_factory=dict)  # more fields of it
    logprobs: object = None  # the choice's, sent if they are asked for; a stream needs `content`


@dataclass(frozen=True, slots=True)
class Fail:
    """An error reply; without a body, one in OpenAI's wording."""

    status: int
    retry_after: float | str | None = None
    body: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing for so long, then the connection is closed."""

    seconds: float = 3600.0


@dataclass(frozen=True, slots=True)
class Drop:
    """A connection closed in the middle of the reply."""

    text: str = field(default="This reply is never fin")


Outcome = Say | Fail | Hang | Drop
Behaviour = Callable[[Request], Outcome]

_FENCE = re.compile(
    r'<response label="([A-Z])" nonce="([^"]*)">(.*?)</response nonce="\2">', re.DOTALL
)
_NONCE = re.compile(r"^Nonce:[ \t]*(\S+)", re.MULTILINE)

Order = Callable[[Sequence[tuple[str, str]]], list[list[str]]]


def fences(prompt: str) -> list[tuple[str, str]]:
    """Return the fenced answers as (letter, text), in display order."""
    return [(letter, text.strip()) for letter, _, text in _FENCE.findall(prompt)]


def nonce_of(prompt: str) -> str:
    """Return the nonce that a ballot has to repeat; "" without one."""
    found = _NONCE.search(prompt)
    return found[1] if found else ""


def as_shown(candidates: Sequence[tuple[str, str]]) -> list[list[str]]:
    return [[letter] for letter, _ in candidates]


def answer(text: str) -> Behaviour:
    return lambda _: Say(text)


def judge(order: Order = as_shown, reason: str = "It names the cause.") -> Behaviour:
    """Cast a ballot of the contract, ranked by `order`."""

    def cast(request: Request) -> Say:
        ballot: dict[str, Any] = {
            "nonce": nonce_of(request.user),
            "reason": reason,
            "ranking": order(fences(request.user)),
        }
        if '"grades": {"A": …' in request.system:
            places = enumerate(ballot.pop("ranking"))
            ballot["grades"] = {letter: max(1, 5 - i) for i, place in places for letter in place}
        return Say(json.dumps(ballot))

    return cast


def by_role(
    answer: Behaviour | None = None,
    judge: Behaviour | None = None,
    chairman: Behaviour | None = None,
) -> Behaviour:
    """Behave as the role in the prompt does."""
    as_judge = judge or _plain_judge

    def play(request: Request) -> Outcome:
        if _NONCE.search(request.user):
            return as_judge(request)
        if fences(request.user):
            return (chairman or _plain_chairman)(request)
        return (answer or _plain_answer)(request)

    return play


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Behave in each way once, and in the last way from then on."""
    waiting = list(behaviours)
    return lambda request: (waiting.pop(0) if len(waiting) > 1 else waiting[0])(request)


def fail(
    status: int,
    retry_after: float | str | None = None,
    body: Mapping[str, object] | None = None,
    times: int | None = None,
) -> Behaviour:
    """Fail with this status, for ever or so many times; afterwards play the role."""

    def failing(_: Request) -> Fail:
        return Fail(status, retry_after, body)

    return failing if times is None else in_turn(*[failing] * times, by_role())


def hang(seconds: float = 3600.0) -> Behaviour:
    return lambda _: Hang(seconds)


def drop() -> Behaviour:
    return lambda _: Drop()


def truncate_stream(text: str = "It stops in the middle of a") -> Behaviour:
    """Stream a text that ends without a finish_reason."""
    return lambda _: Say(text, ends=False)


def empty() -> Behaviour:
    return lambda _: Say("")


def cut(text: str) -> Behaviour:
    """Reply with a text that ended at the token limit."""
    return lambda _: Say(text, finish_reason="length")


def reasoning_only() -> Behaviour:
    """Think until the token limit, and answer nothing."""
    return lambda _: Say("", finish_reason="length", reasoning="Let me think about that …")


def content_filter() -> Behaviour:
    return lambda _: Say("", finish_reason="content_filter")


def rejects_temperature(then: Behaviour | None = None) -> Behaviour:
    def refuse(request: Request) -> Outcome:
        if request.body.get("temperature", 1) == 1:
            return (then or by_role())(request)
        message = (
            "Unsupported value: 'temperature' does not support "
            f"{request.body['temperature']} with this model. Only the default (1) value is "
            "supported."
        )
        return Fail(400, body=openai_error(message, param="temperature", code="unsupported_value"))

    return refuse


def rejects_schema(then: Behaviour | None = None) -> Behaviour:
    message = "Invalid parameter: 'response_format' of type 'json_schema' is not supported."
    refusal = Fail(400, body=openai_error(message, param="response_format"))
    return lambda request: (
        refusal if "response_format" in request.body else (then or by_role())(request)
    )


def logprobs_of(text: str, odds: Sequence[Mapping[str, float]] = ()) -> dict[str, object]:
    """Return log-probabilities as OpenAI and llama-server write them; a digit is a token.

    `odds` are the probabilities at the last digits, in their order; all other tokens are certain.
    """
    tokens = re.findall(r"[0-9]|[^0-9]+", text)
    digits = [i for i, token in enumerate(tokens) if token.isdigit()]
    at = dict(zip(digits[len(digits) - len(odds) :], odds, strict=True))
    content = []
    for i, token in enumerate(tokens):
        listed = at.get(i, {token: 1.0})
        top = [_token(one, p) for one, p in sorted(listed.items(), key=lambda pair: -pair[1])]
        content.append(_token(token, listed.get(token, 1e-9)) | {"top_logprobs": top})
    return {"content": content, "refusal": None}


def _token(text: str, p: float) -> dict[str, object]:
    return {"token": text, "logprob": log(p), "bytes": [*text.encode()]}


def rejects_logprobs(status: int = 400, then: Behaviour | None = None) -> Behaviour:
    """Refuse log-probabilities, as OpenAI does with 400 and 403; 422 does not say why."""
    messages = {
        400: "Invalid parameter: 'logprobs' is not supported with this model.",
        403: "You are not allowed to request logprobs from this model.",
        422: "Unprocessable entity.",
    }
    refusal = Fail(status, body=openai_error(messages[status]))
    return lambda request: (
        refusal
        if {"logprobs", "top_logprobs"} & request.body.keys()
        else (then or by_role())(request)
    )


def overflow(wording: str = "llama-server") -> Behaviour:
    """Refuse a prompt for its length, in llama-server's wording or in OpenAI's ("openai")."""
    if wording == "openai":
        message = (
            "This model's maximum context length is 8192 tokens. However, your messages resulted "
            "in 9012 tokens. Please reduce the length of the messages."
        )
        return fail(400, body=openai_error(message, "messages", "context_length_exceeded"))
    error = {
        "code": 400,
        "message": "the request exceeds the available context size, try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 9012,
        "n_ctx": 8192,
    }
    return fail(400, body={"error": error})


def wrong_key() -> Behaviour:
    """Refuse the key, and repeat it whole: the worst a provider can do with it."""

    def refuse(request: Request) -> Fail:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        message = f"Incorrect API key provided: {key}. You can find your API key at …"
        return Fail(401, body=openai_error(message, code="invalid_api_key"))

    return refuse


def no_such_model() -> Behaviour:
    return lambda request: Fail(
        404,
        body=openai_error(
            f"The model `{request.model}` does not exist or you do not have access to it.",
            code="model_not_found",
        ),
    )


def openai_error(
    message: str,
    param: str | None = None,
    code: str | None = None,
    kind: str | None = None,
) -> dict[str, object]:
    """Return an error body as OpenAI writes one."""
    type_ = kind or "invalid_request_error"
    return {"error": {"message": message, "type": type_, "param": param, "code": code}}


_ADVICE = ("Keep it simple", "Measure it first", "Use what you have", "Ask who will run it")


def _plain_answer(request: Request) -> Say:
    number = int(sha256(f"{request.model}\n{request.user}".encode()).hexdigest(), 16)
    return Say(f"{_ADVICE[number % len(_ADVICE)]}, and decide again after {number % 89 + 2} days.")


_plain_judge = judge()


def _plain_chairman(request: Request) -> Say:
    letter, text = fences(request.user)[0]
    trailer = {"drawn_on": [letter], "departs": False, "why": ""}
    return Say(f"{text}\n{json.dumps(trailer)}")


_BEST, _MIDDLE = 5, 3.0


@dataclass(frozen=True, slots=True)
class Planted:
    """Biases in grades on the scale where 5 is best, by model; and the quality of their answers.

    A grade's expectation is an answer's quality, and what was planted in the judge; what is between
    two whole numbers is drawn by digest, so that the same call always gets the same grade.
    `own` is what a model adds for its own answer, `strict` what it takes from everybody's.
    """

    own: Mapping[str, float] = field(default_factory=dict)
    strict: Mapping[str, float] = field(default_factory=dict)
    quality: Mapping[str, float] = field(default_factory=dict)

    def behaviour(self) -> Behaviour:
        """Answer with a text that only the server can tell apart, and grade as planted."""
        return by_role(answer=_answer, judge=self._judge)

    def _judge(self, request: Request) -> Say:
        ((_, text),) = fences(request.user)
        author = text.split()[-1].strip(".").lower()
        judge = request.model
        mean = _MIDDLE + self.quality.get(author, 0) - self.strict.get(judge, 0)
        mean += self.own.get(judge, 0) if author == judge else 0
        is_turned = "1 is the best" in request.system
        drawn = _fraction(judge, text, str(is_turned))  # without the nonce, which is another
        grade = min(_BEST, max(1, int(mean + drawn)))
        raw = _BEST + 1 - grade if is_turned else grade
        return Say(json.dumps({"nonce": nonce_of(request.user), "reason": "So.", "grade": raw}))


def _answer(request: Request) -> Say:
    number = int(_fraction(request.model, request.user) * 90) + 2
    return Say(
        f"Decide again after {number} days; until then it stays as it is, says {request.model}."
    )


def _fraction(*parts: str) -> float:
    return int(sha256("\n".join(parts).encode()).hexdigest()[:8], 16) / 16**8
