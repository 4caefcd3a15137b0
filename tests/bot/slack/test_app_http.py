"""Slack's HTTP endpoint: the signature comes first, and no body makes it fail."""

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from bot.slack.app import Slack
from bot.slack.config import Tokens
from tests.bot.app_fakes import an_app
from tests.bot.slack.in_process import FAST_LIMITS, make_fake_slack
from tests.wire.faults import until
from tests.wire.slack.deliveries import signed

SECRET = "0123456789abcdef"
CHALLENGE = '{"type": "url_verification", "challenge": "c"}'
FORM = "application/x-www-form-urlencoded"
JSON = {"Content-Type": "application/json"}


@dataclass(slots=True)
class Endpoint:
    """The endpoint of a Slack that is connected."""

    slack: Slack
    client: httpx.AsyncClient

    async def post(self, body: bytes, headers: Mapping[str, str]) -> httpx.Response:
        given = {
            name.encode(): text.encode("latin-1") for name, text in {**JSON, **headers}.items()
        }
        return await self.client.post("/", content=body, headers=given)


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    """Yield the endpoint of a Slack in this process."""
    async with make_fake_slack() as fake:
        tokens = Tokens(fake.state.app.bot_token, "", SECRET, fake.api_url)
        slack = Slack(an_app(), tokens, lambda _: None, FAST_LIMITS)
        assert not slack.is_ready
        running = asyncio.create_task(slack.run())
        await until(lambda: slack.is_ready, 30, lambda: "not ready")
        app = Starlette(routes=[Route("/", slack.handle_http, methods=["POST"])])
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://council") as client:
            yield Endpoint(slack, client)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_over_a_socket_nothing_that_is_posted_is_handled() -> None:
    async with make_fake_slack() as fake:
        tokens = Tokens(fake.state.app.bot_token, fake.state.app.app_token, "", fake.api_url)
        slack = Slack(an_app(), tokens, lambda _: None, FAST_LIMITS)
        running = asyncio.create_task(slack.run())
        await fake.connected()
        app = Starlette(routes=[Route("/", slack.handle_http, methods=["POST"])])
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://council") as client:
            forged = signed("", CHALLENGE, int(time.time()))
            reply = await client.post("/", content=CHALLENGE, headers={**JSON, **forged})
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    assert reply.status_code == 503


def headers(body: str = CHALLENGE, age: int = 0, **changed: str) -> dict[str, str]:
    given = signed(SECRET, body, int(time.time()) - age)
    return given | {name.replace("_", "-"): value for name, value in changed.items()}


async def test_what_slack_signs_is_handled(endpoint: Endpoint) -> None:
    reply = await endpoint.post(CHALLENGE.encode(), headers())

    assert (reply.status_code, reply.json()) == (200, {"challenge": "c"})


@pytest.mark.parametrize("body", [CHALLENGE.encode(), b"{", b"\xff", b"ssl_check=1"])
async def test_nothing_is_parsed_before_the_signature_is_checked(
    endpoint: Endpoint, body: bytes
) -> None:
    wrong = [
        {},
        headers("another body"),
        headers(age=600),
        headers(age=-600),
        headers(X_Slack_Signature="v0=é"),
        headers(X_Slack_Request_Timestamp="²"),
        headers(X_Slack_Request_Timestamp="9" * 5_000),
    ]

    replies = [await endpoint.post(body, sent) for sent in wrong]

    assert {reply.status_code for reply in replies} == {401}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        *((body, "application/json") for body in ("{", "[]", "null", "{}}", "[" * 100_000)),
        *((body, FORM) for body in ("{", "payload=[1]", f"payload={quote('{')}")),
    ],
    ids=lambda text: text[:12],
)
async def test_a_malformed_body_is_a_bad_request(endpoint: Endpoint, body: str, kind: str) -> None:
    assert (await endpoint.post(body.encode(), headers(body, Content_Type=kind))).status_code == 400


async def test_a_body_that_is_not_utf_8_is_a_bad_request(endpoint: Endpoint) -> None:
    at = str(int(time.time()))
    digest = hmac.digest(SECRET.encode(), f"v0:{at}:".encode() + b"\xff", "sha256").hex()
    sent = {"X-Slack-Request-Timestamp": at, "X-Slack-Signature": f"v0={digest}"}

    assert (await endpoint.post(b"\xff", sent)).status_code == 400
