"""`council serve`: what it needs, prints and resumes, and how it stops."""

import asyncio
import json
import re
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx
import pytest

from bot.cli.serve import NOBODY, OPEN_TO_ALL
from tests.bot.homes import TIMEOUT_SECONDS, Home, Result, served_config, wait_for_exit
from tests.wire.models import ModelServer, hang

NAMES = ("one", "two", "slow")
# What may not be listened on without a token.
EVERYWHERE = "0.0.0.0"  # noqa: S104


@asynccontextmanager
async def serving(
    home: Home, *, fresh: bool = False
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str, list[str]]]:
    """Serve on a free port; yield the process, the page's address, and its lines before that."""
    process = await home.with_settings(PORT="0").started("serve", fresh=fresh)
    lines: list[str] = []
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            assert process.stderr
            while not (found := re.search(r"The page: (http://\S+)", "".join(lines))):
                line = await process.stderr.readline()
                assert line, lines
                lines.append(line.decode())
        yield process, found[1], lines
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def stopped(process: asyncio.subprocess.Process) -> Result:
    """Send SIGTERM and wait for the end."""
    process.send_signal(signal.SIGTERM)
    return await wait_for_exit(process)


def in_the_browser(address: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=address, trust_env=False, timeout=TIMEOUT_SECONDS)


async def ask(browser: httpx.AsyncClient, question: str) -> str:
    """Ask on the page; return the round's path."""
    page = (await browser.get("/")).text
    fields = dict(re.findall(r'name="(token|round)" value="([^"]+)"', page))
    response = await browser.post("/ask", data={**fields, "question": question})
    assert response.status_code == 303, response.text
    return response.headers["location"]


def is_one_line(result: Result, code: int) -> bool:
    return (result.code, result.out, len(result.lines)) == (code, "", 1)


def test_a_port_in_use_is_one_line(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = home.with_settings(PORT=str(port)).invoke("serve")

    assert is_one_line(result, 1)
    assert f"Can't listen on 127.0.0.1:{port}" in result.err
    assert "COUNCIL_PORT" in result.err


@pytest.mark.parametrize(("host", "token"), [(EVERYWHERE, " \n"), ("council.example.org", "")])
def test_a_public_host_needs_a_token(home: Home, host: str, token: str) -> None:
    settings = {"COUNCIL_HOST": host, "COUNCIL_WEB_TOKEN": token}
    result = home.with_settings(**settings, PORT="0").invoke("serve")

    assert is_one_line(result, 2)
    assert OPEN_TO_ALL.format(host=host) in result.err


def test_without_models_it_says_what_to_set(home: Home) -> None:
    result = home.with_config("").with_settings(PORT="0").invoke("serve")

    assert is_one_line(result, 2)
    assert NOBODY in result.err


async def test_serve_asks_for_the_token_and_says_what_was_not_started(home: Home) -> None:
    pytest.importorskip("bot.slack")
    settings = {"COUNCIL_HOST": EVERYWHERE, "COUNCIL_WEB_TOKEN": "a long random text"}
    home = home.with_settings(**settings, SLACK_BOT_TOKEN="xoxb-secret")

    async with serving(home, fresh=True) as (process, address, lines):
        port = address.rpartition(":")[2]
        async with in_the_browser(f"http://127.0.0.1:{port}") as browser:
            refused = await browser.get("/rounds")
            bearer = {"authorization": "Bearer a long random text"}
            let_in = await browser.get("/rounds", headers=bearer)
        result = await stopped(process)

    text = "".join(lines) + result.err
    missing = "SLACK_APP_TOKEN is missing, or SLACK_SIGNING_SECRET for HTTP"
    assert (refused.status_code, let_in.status_code) == (401, 200)
    assert f"Slack: not started ({missing})\n" in text
    assert "Discord: not started (no token)" in text
    assert "Panel house: North, South" in text
    assert not any(secret in text for secret in ("a long random text", "xoxb-secret"))
    assert (result.code, result.out) == (0, "")


async def test_serve_stops_while_a_page_follows_a_round(home: Home) -> None:
    async with ModelServer() as server:
        home = home.with_config(served_config(server.api_base, NAMES))
        server.script["slow"] = hang()
        async with (
            serving(home, fresh=True) as (process, address, _),
            in_the_browser(address) as browser,
        ):
            path = await ask(browser, "Is this the question on the page?")
            async with browser.stream("GET", f"{path}/events") as stream:
                await wait_for_slow_model(server)
                result = await stopped(process)
                # The stream ends, whole or in the middle; the page connects again by itself.
                with suppress(httpx.TransportError):
                    await stream.aread()

    assert result.code == 0
    assert "ASGI" not in result.err
    assert home.sql("SELECT seconds FROM round") == [(None,)]


async def wait_for_slow_model(server: ModelServer) -> None:
    """Wait until the slow model is asked: nothing else shows how far the process is."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not any(request.model == "slow" for request in server.requests):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_serve_resumes_only_rounds_of_the_page(home: Home) -> None:
    ids = [(await home.invoke_in_thread("ask", "Why?", "--json")).json["id"] for _ in range(3)]
    of_the_page, of_the_terminal, broken = ids
    home.sql("UPDATE round SET seconds = NULL")
    home.sql("UPDATE round SET chat = 'web' WHERE id != ?", of_the_terminal)
    home.sql("UPDATE round SET panel = '{}' WHERE id = ?", broken)

    async with serving(home) as (process, address, lines), in_the_browser(address) as browser:
        await browser.get(f"/rounds/{of_the_page}/events")
        unreadable = await browser.get(f"/rounds/{broken}")
        result = await stopped(process)

    unfinished = {row[0] for row in home.sql("SELECT id FROM round WHERE seconds IS NULL")}
    logged = [json.loads(line) for line in (*lines, *result.lines) if line.startswith("{")]
    refused = [line for line in logged if line["event"] == "round_not_resumed"]
    assert unfinished == {of_the_terminal, broken}
    assert [line["round_id"] for line in refused] == [broken]
    assert (unreadable.status_code, result.code) == (503, 0)
