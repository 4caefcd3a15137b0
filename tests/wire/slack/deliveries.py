"""Deliveries to the app and their acknowledgements, and signed deliveries over HTTP."""

import asyncio
import hmac
import json
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, Protocol
from urllib.parse import urlencode

from aiohttp import ClientError, ClientSession

from tests.wire.slack.state import State

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery of a command, an interaction or an event; a retry has a reason."""

    kind: Literal["slash_commands", "interactive", "events_api"]
    payload: Payload
    attempt: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """The app's reply to a delivery, and the time it took."""

    seconds: float
    payload: Payload | None = None
    timed_out: bool = False
    status: int | None = None  # of HTTP
    undelivered: bool = False  # no link was open, or nobody listened
    no_retry: bool = False

    @property
    def accepted(self) -> bool:
        """Return whether it came in time and was a success."""
        return not self.timed_out and not self.undelivered and self.status in {None, 200}

    @property
    def trouble(self) -> str:
        """Return Slack's name for the reason of a redelivery."""
        if self.undelivered:
            return "connection_failed"
        return "http_timeout" if self.timed_out else "http_error"


class Transport(Protocol):
    """Delivers commands, interactions and events to the app."""

    async def deliver(self, parcel: Delivery) -> Acknowledgement:
        """Deliver one, and wait for its acknowledgement as long as Slack would."""
        ...


def signed(secret: str, body: str, at: int) -> dict[str, str]:
    base = f"v0:{at}:{body}".encode()
    digest = hmac.new(secret.encode(), base, sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(at), "X-Slack-Signature": f"v0={digest}"}


class RequestUrl:
    """Posts to one address, which a test sets once the product listens."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.address = ""
        self.secret = state.app.signing_secret  # another makes every delivery a forgery
        self.skew_seconds = 0  # how old the signatures are
        self._session: ClientSession | None = None

    async def deliver(self, parcel: Delivery) -> Acknowledgement:
        if parcel.kind == "events_api":
            return await self._post(json.dumps(parcel.payload), "application/json", parcel)
        form = (
            parcel.payload
            if parcel.kind == "slash_commands"
            else {"payload": json.dumps(parcel.payload)}
        )
        return await self._post(urlencode(form), "application/x-www-form-urlencoded", parcel)

    async def verify(self) -> bool:
        """Send a url_verification challenge, as Slack does for a new request URL."""
        body = {"type": "url_verification", "token": "none", "challenge": "3eZbrw1aB"}
        answer = await self.deliver(Delivery("events_api", body))
        said = answer.payload or {}
        return answer.accepted and "3eZbrw1aB" in {said.get("challenge"), said.get("text")}

    async def post(self, body: str, headers: dict[str, str]) -> tuple[int, str, bool]:
        """Post anything; give the status, the text, and whether retries are declined."""
        self._session = self._session or ClientSession()
        async with self._session.post(self.address, data=body.encode(), headers=headers) as answer:
            declined = answer.headers.get("X-Slack-No-Retry") == "1"
            return answer.status, await answer.text(), declined

    async def _post(self, body: str, kind: str, parcel: Delivery) -> Acknowledgement:
        loop = asyncio.get_running_loop()
        began = loop.time()
        headers = {
            "Content-Type": kind,
            **signed(self.secret, body, int(time.time()) - self.skew_seconds),
        }
        if parcel.attempt:
            headers |= {
                "X-Slack-Retry-Num": str(parcel.attempt),
                "X-Slack-Retry-Reason": parcel.reason,
            }
        try:
            async with asyncio.timeout(self._state.rules.ack_seconds):
                status, text, declined = await self.post(body, headers)
        except TimeoutError:
            return Acknowledgement(loop.time() - began, timed_out=True)
        except (ClientError, OSError, ValueError):
            return Acknowledgement(loop.time() - began, undelivered=True)
        seconds = loop.time() - began
        return Acknowledgement(seconds, _said(text), status=status, no_retry=declined)

    async def close(self) -> None:
        if self._session:
            await self._session.close()


def _said(text: str) -> Payload | None:
    if not text:
        return None
    try:
        answer = json.loads(text)
    except ValueError:
        return {"text": text}
    return answer if isinstance(answer, dict) else {"text": text}
