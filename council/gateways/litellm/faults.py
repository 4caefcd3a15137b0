"""What went wrong with a call, in one sentence without secrets, and whether to try again.

Reads the reply behind litellm's error first and its class second: it raises BadRequestError for a
500 whose body says "invalid request", and InternalServerError where nobody was reached.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus

import httpx

from council.errors import ContextOverflowError, GatewayError, RateLimitError
from council.gateways.litellm.retries import retry_after_seconds
from council.gateways.litellm.seats import SeatSettings

_OVERFLOW = re.compile(r"context.(length|size|window)|prompt is too long|too many tokens", re.I)
_FILTERED = re.compile(r"content.(filter|policy|management)", re.I)
_NO_KEY = re.compile(r"missing .*(api.?key|credentials)", re.I)
_BAD_KEY = re.compile(r"api key not valid|invalid api.?key", re.I)  # Gemini says so with a 400
_NO_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota", re.I)
_REFUSABLE = {
    "temperature": re.compile(r"temperature", re.I),
    "response_format": re.compile(r"response.?format|schema|structured.output", re.I),
}
_TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
_UNFIT = {HTTPStatus.BAD_REQUEST, _TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT}
_WHY = {
    401: "the key for {place} was refused",
    402: "the credit at {place} is used up",
    403: "the key for {place} may not use this model",
    404: "there is no model {name!r} at {place}",
}


class BrokenOffError(Exception):
    """A stream ended before the model did."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed attempt: the error to raise if it was the last, and what may be done about it."""

    error: GatewayError
    passing: bool = False  # worth another attempt
    refused: str | None = None  # the one argument the provider will not take
    retry_after_seconds: float | None = None

    @property
    def is_outage(self) -> bool:
        """Whether the model cannot be had now; who asks us to slow down, or refuses, is there."""
        return self.passing and not isinstance(self.error, RateLimitError)


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: int
    headers: Mapping[str, str]
    kind: str
    text: str


def read(error: Exception, seat: SeatSettings, sent: Mapping[str, object]) -> Fault:
    """Tell what an attempt with these arguments failed of."""
    links = tuple(_links(error))
    refusal = _refusal(error, links)
    if refusal:
        return _refused(refusal, seat, sent)
    if isinstance(error, BrokenOffError) or type(error).__name__ == "MidStreamFallbackError":
        return Fault(GatewayError("broke off in the middle of its answer"), passing=True)
    if any(isinstance(link, (httpx.TransportError, OSError)) for link in links):
        return Fault(GatewayError("could not be reached"), passing=True)
    if _NO_KEY.search(str(error)):
        return _not_asked(f"there is no key for {seat.place}")
    return Fault(GatewayError("sent something that could not be read"))


def _links(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _refusal(error: Exception, links: tuple[BaseException, ...]) -> _Refusal | None:
    """Give the provider's refusal; None where no reply came, or litellm itself stumbled."""
    kind, text = type(error).__name__, f"{error} {getattr(error, 'body', '')}"
    for link in links:
        # What the provider really replied: litellm takes its class, even its status, from words.
        if isinstance(link, httpx.HTTPStatusError):
            return _Refusal(link.response.status_code, link.response.headers, kind, text)
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return _Refusal(status, getattr(error, "litellm_response_headers", None) or {}, kind, text)
    return None


def _refused(refusal: _Refusal, seat: SeatSettings, sent: Mapping[str, object]) -> Fault:
    status, wait = refusal.status, retry_after_seconds(refusal.headers)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        if _NO_QUOTA.search(refusal.text):
            return _not_asked(f"the quota at {seat.place} is used up (429)")
        slow = RateLimitError("asked us to slow down (429)", wait)
        return Fault(slow, passing=True, retry_after_seconds=wait)
    if status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        how = "was busy" if status in _PASSING else "failed"
        failed = GatewayError(f"could not answer: {seat.place} {how} ({status})")
        return Fault(failed, passing=True, retry_after_seconds=wait)
    if status in _UNFIT:
        return _unfit(refusal, seat, sent)
    if _NO_KEY.search(refusal.text) or (status == HTTPStatus.UNAUTHORIZED and not seat.api_key):
        return _not_asked(f"there is no key for {seat.place}")
    why = _WHY.get(status, "{place} refused the request").format(place=seat.place, name=seat.name)
    return _not_asked(f"{why} ({status})")


def _unfit(refusal: _Refusal, seat: SeatSettings, sent: Mapping[str, object]) -> Fault:
    kind, text = refusal.kind, refusal.text
    if "LLM Provider NOT provided" in text:
        return _not_asked(f"no provider is known for {seat.model!r}")
    too_long = kind == "ContextWindowExceededError" or refusal.status == _TOO_LARGE
    if too_long or _OVERFLOW.search(text):
        return Fault(
            ContextOverflowError("could not be asked: the prompt is longer than its context")
        )
    if _BAD_KEY.search(text):
        return _not_asked(f"the key for {seat.place} was refused ({refusal.status})")
    if kind == "ContentPolicyViolationError" or _FILTERED.search(text):
        return Fault(GatewayError("was stopped by the provider's content filter"))
    named = (name for name in _REFUSABLE if name in sent and _REFUSABLE[name].search(text))
    fault = _not_asked(f"{seat.place} refused the request ({refusal.status})")
    return replace(fault, refused=next(named, None))


def _not_asked(why: str) -> Fault:
    return Fault(GatewayError(f"could not be asked: {why}"))
