"""Retries of litellm calls: which errors can be retried, Retry-After, backoff."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from council.errors import ContextOverflowError, GatewayError, RateLimitError
from council.gateways.litellm.client import SeatSettings
from council.gateways.litellm.responses import StreamInterruptedError

MAX_ATTEMPTS = 4
_BASE_SECONDS = 0.5
_MAX_SECONDS = 8.0
_CONTEXT_OVERFLOW = re.compile(
    r"context.(length|size|window)|prompt is too long|too many tokens", re.I
)
_FILTERED = re.compile(r"content.(filter|policy|management)", re.I)
_NO_KEY = re.compile(r"missing .*(api.?key|credentials)", re.I)
_BAD_KEY = re.compile(r"api key not valid|invalid api.?key", re.I)  # Gemini replies 400 for this
_NO_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota", re.I)
_LOGPROBS = re.compile(r"log.?prob", re.I)
_REFUSABLE = {
    "temperature": re.compile(r"temperature", re.I),
    "response_format": re.compile(r"response.?format|schema|structured.output", re.I),
    "logprobs": _LOGPROBS,
}
_TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
_BAD_REQUEST = {HTTPStatus.BAD_REQUEST, _TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT}
_REDIRECTS = {301, 302, 303, 307, 308}
_REDIRECTED = "{place} redirects to another address, which is not followed"
_REFUSALS = {
    **dict.fromkeys(_REDIRECTS, _REDIRECTED),
    401: "the key for {place} was refused",
    402: "the credit at {place} is used up",
    403: "the key for {place} may not use this model",
    404: "there is no model {name!r} at {place}",
}


@dataclass(frozen=True, slots=True)
class CallFault:
    """A failed attempt: the error to raise if it was the last, and what another attempt needs."""

    error: GatewayError
    is_transient: bool = False  # another attempt may succeed
    refused_argument: str | None = None  # the argument to leave out of another attempt
    retry_after_seconds: float | None = None

    @property
    def is_outage(self) -> bool:
        """Whether the model cannot be reached now; one that limits or refuses calls can be."""
        return self.is_transient and not isinstance(self.error, RateLimitError)


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: int
    headers: Mapping[str, str]
    kind: str
    text: str


def classify_error(error: Exception, seat: SeatSettings, sent: Mapping[str, object]) -> CallFault:
    """Return the fault of an attempt with the arguments `sent`."""
    # Slow to import, and a call has imported both.
    import httpx

    from council.gateways.litellm.transport import ReplyTooLargeError

    links = tuple(_cause_chain(error))
    if any(isinstance(link, ReplyTooLargeError) for link in links):
        too_large = CallFault(GatewayError("sent far more than an answer, so it was cut off"))
        return _without_logprobs(too_large, sent)
    refusal = _refusal(error, links)
    if refusal:
        fault = _classify_refusal(refusal, seat, sent)
        # OpenAI refuses log-probabilities with 403, and some servers with 500.
        is_named = refusal.status != HTTPStatus.TOO_MANY_REQUESTS and _LOGPROBS.search(refusal.text)
        return _without_logprobs(fault, sent) if is_named else fault
    if (
        isinstance(error, StreamInterruptedError)
        or type(error).__name__ == "MidStreamFallbackError"
    ):
        broken = CallFault(GatewayError("broke off in the middle of its answer"), is_transient=True)
        return _without_logprobs(broken, sent)  # litellm breaks off where it cannot read them
    if any(isinstance(link, (httpx.TransportError, OSError)) for link in links):
        return CallFault(GatewayError("could not be reached"), is_transient=True)
    if _NO_KEY.search(str(error)):
        return _permanent_fault(f"there is no key for {seat.address.place}")
    return _without_logprobs(CallFault(GatewayError("sent a reply that could not be read")), sent)


def _without_logprobs(fault: CallFault, sent: Mapping[str, object]) -> CallFault:
    """Return a fault after which a call that asked for log-probabilities does without them."""
    return replace(fault, refused_argument="logprobs" if "logprobs" in sent else None)


def _cause_chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _refusal(error: Exception, links: tuple[BaseException, ...]) -> _Refusal | None:
    """Return the provider's refusal; None if there was no reply, or if litellm itself failed."""
    import httpx

    kind, text = type(error).__name__, f"{error} {getattr(error, 'body', '')}"
    for link in links:
        # The provider's real reply: litellm guesses the error class, even the status, from words.
        if isinstance(link, httpx.HTTPStatusError):
            return _Refusal(link.response.status_code, link.response.headers, kind, text)
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return _Refusal(status, getattr(error, "litellm_response_headers", None) or {}, kind, text)
    return None


def _classify_refusal(
    refusal: _Refusal, seat: SeatSettings, sent: Mapping[str, object]
) -> CallFault:
    status, wait = refusal.status, retry_after_seconds(refusal.headers)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        if _NO_QUOTA.search(refusal.text):
            return _permanent_fault(f"the quota at {seat.address.place} is used up (429)")
        slow = RateLimitError("asked us to slow down (429)", wait)
        return CallFault(slow, is_transient=True, retry_after_seconds=wait)
    if status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        how = "was busy" if status in _BUSY else "failed"
        failed = GatewayError(f"could not answer: {seat.address.place} {how} ({status})")
        return CallFault(failed, is_transient=True, retry_after_seconds=wait)
    if status in _BAD_REQUEST:
        return _classify_bad_request(refusal, seat, sent)
    if _NO_KEY.search(refusal.text) or (status == HTTPStatus.UNAUTHORIZED and not seat.api_key):
        return _permanent_fault(f"there is no key for {seat.address.place}")
    why = _REFUSALS.get(status, "{place} refused the request").format(
        place=seat.address.place, name=seat.name
    )
    return _permanent_fault(f"{why} ({status})")


def _classify_bad_request(
    refusal: _Refusal, seat: SeatSettings, sent: Mapping[str, object]
) -> CallFault:
    kind, text = refusal.kind, refusal.text
    if "LLM Provider NOT provided" in text:
        return _permanent_fault(f"no provider is known for {seat.model!r}")
    too_long = kind == "ContextWindowExceededError" or refusal.status == _TOO_LARGE
    if too_long or _CONTEXT_OVERFLOW.search(text):
        return CallFault(
            ContextOverflowError("could not be asked: the prompt is longer than its context")
        )
    if _BAD_KEY.search(text):
        return _permanent_fault(f"the key for {seat.address.place} was refused ({refusal.status})")
    if kind == "ContentPolicyViolationError" or _FILTERED.search(text):
        return CallFault(GatewayError("was stopped by the provider's content filter"))
    named = (name for name in _REFUSABLE if name in sent and _REFUSABLE[name].search(text))
    fault = _permanent_fault(f"{seat.address.place} refused the request ({refusal.status})")
    refused = next(named, None)
    return replace(fault, refused_argument=refused) if refused else _without_logprobs(fault, sent)


def _permanent_fault(why: str) -> CallFault:
    return CallFault(GatewayError(f"could not be asked: {why}"))


def backoff_seconds(attempt: int, jitter: Callable[[], float]) -> float:
    """Return the wait after this attempt, the first being 1; `jitter` returns a share in 0…1."""
    return min(_MAX_SECONDS, _BASE_SECONDS * 2.0 ** (attempt - 1)) * jitter()


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return the wait that the provider asks for; None if it is missing or malformed."""
    if milliseconds := headers.get("retry-after-ms"):
        return _parse_seconds(milliseconds, 1000)
    return _parse_seconds(headers.get("retry-after") or "")


def _parse_seconds(text: str, divisor: int = 1) -> float | None:
    with suppress(ValueError):
        return max(0.0, float(text) / divisor)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    # A date without a zone is in UTC, as in HTTP.
    utc = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, utc.timestamp() - time.time())
