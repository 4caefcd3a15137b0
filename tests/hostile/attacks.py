"""The attacks: each takes the running product and yields rows of what it measured."""

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx

from bot.web.limits import MAX_CONNECTIONS
from bot.web.server import raise_file_limit
from tests.bot.homes import LETTERS
from tests.hostile.product import CAP_USD, MEGABYTE, TOKEN, Product
from tests.hostile.suite_bombs import BOMBS
from tests.wire.hostile_provider import ATTACKS

MAX_MEMORY, MAX_SLOWEST_SECONDS, MAX_HEALTH_SECONDS = 150 * MEGABYTE, 0.3, 0.1
MAX_BOMB_MEMORY, MAX_BOMB_SECONDS = 200 * MEGABYTE, 2.0
MAX_READ = 2 * MEGABYTE
HEALTHY = "health < 100 ms (p99)"
COMPLETIONS, AT_ONCE = "/v1/chat/completions", 2
HEADER_SECONDS, REST_SECONDS = 15.0, 5.0
CHUNK = b"x" * 16_384


@dataclass(frozen=True, slots=True)
class Row:
    """What was attacked, the target, what was measured.

    It passes if what must hold does, and each measure is less than its limit; `shares` are the
    shares of the limits that were used.
    """

    attack: str
    target: str
    measured: str
    holds: bool = True
    shares: tuple[float, ...] = ()

    @property
    def passed(self) -> bool:
        return self.holds and all(share < 1 for share in self.shares)

    @property
    def margin(self) -> str:
        """How much of the tightest limit was left."""
        return f"{1 - max(self.shares):.0%}" if self.shares else ""


def attack_all(product: Product) -> Iterator[Row]:
    """Run every attack and yield its rows."""
    yield from hostile_provider(product)
    yield from suite_bombs(product)
    yield from large_bodies(product)
    yield from large_questions(product)
    yield from idle_clients(product, 1_050)
    yield from idle_connections(product, MAX_CONNECTIONS + 500)
    yield from slow_headers(product)
    yield from anonymous_readiness(product)
    yield from dropped_cookies(product)
    yield from logins(product)  # last: nobody can log in from this address afterwards


def hostile_provider(product: Product) -> Iterator[Row]:
    """Ask a round on each panel that has a hostile model, which must cost the others nothing."""
    browser, watch = product.browser(), product.watch
    browser.run_round("fine")  # litellm is loaded
    watch.reset()
    time.sleep(REST_SECONDS)
    rest = watch.memory
    yield Row("at rest", "", f"{rest / MEGABYTE:.0f} MB, {watch.health * 1000:.0f} ms")
    for attack in ATTACKS:
        watch.reset()
        document = browser.run_round(attack)
        healthy = set(LETTERS[:4])
        answers = healthy & {answer["member"] for answer in document["answers"]}
        ballots = healthy & {ballot["judge"] for ballot in document["ballots"] if ballot["counted"]}
        cost, more = document["cost_usd"], watch.memory - rest
        yield Row(
            f"provider: {attack}",
            "< 150 MB more, slowest health < 300 ms, 4 answers, 4 ballots, cost >= 0",
            f"{more / MEGABYTE:.0f} MB, {watch.slowest * 1000:.0f} ms, {len(answers)}, "
            f"{len(ballots)}, {'unknown' if cost is None else f'${cost:.4f}'}",
            document["stage"] == "closed"
            and len(answers) == len(ballots) == len(healthy)
            and (cost is None or cost >= 0),
            (
                more / MAX_MEMORY,
                watch.slowest / MAX_SLOWEST_SECONDS,
                *([cost / CAP_USD] if cost else []),
            ),
        )


def suite_bombs(product: Product) -> Iterator[Row]:
    """Upload every bomb as a suite; count the processor's seconds, which no other work delays."""
    browser, watch = product.browser(), product.watch
    worst: list[tuple[float, str]] = []
    most: list[tuple[float, str]] = []
    wrong: list[str] = []
    watch.reset()
    for name, (filename, text) in BOMBS.items():
        before, began = product.process.memory_info().rss, product.processor_seconds
        watch.memory = before
        reply = browser.upload(filename, text.encode())
        worst.append((product.processor_seconds - began, name))
        most.append(((watch.memory - before) / MEGABYTE, name))
        if reply.status_code not in ({422} if filename == "s.toml" else {200, 422}):
            wrong.append(f"{name}: {reply.status_code}")
    (seconds, slowest), (memory, largest) = max(worst), max(most)
    yield Row(
        f"{len(BOMBS)} suite bombs",
        "each < 200 MB more, < 2 s, no error, slowest health < 300 ms",
        f"{memory:.0f} MB ({largest}), {seconds:.2f} s ({slowest}), {', '.join(wrong) or 'none'}, "
        f"{watch.slowest * 1000:.0f} ms",
        not wrong,
        (
            memory * MEGABYTE / MAX_BOMB_MEMORY,
            seconds / MAX_BOMB_SECONDS,
            watch.slowest / MAX_SLOWEST_SECONDS,
        ),
    )


def _health(product: Product) -> Row:
    """Return the row of the health checks since the watch was reset."""
    seconds, failures = product.watch.health, product.watch.failures
    measured = f"{seconds * 1000:.0f} ms, {failures} failed"
    return Row(
        "- health meanwhile", HEALTHY, measured, not failures, (seconds / MAX_HEALTH_SECONDS,)
    )


def large_bodies(product: Product) -> Iterator[Row]:
    """Send 200 MB with a length and 300 MB in chunks; count what the product takes."""
    length = 200_000_000
    for name, path, headers, size in (
        ("200 MB, unsigned", "/slack/events", f"Content-Length: {length}", length),
        ("300 MB, chunked", "/slack/events", "Transfer-Encoding: chunked", 300_000_000),
        ("300 MB, chunked", "/login", "Transfer-Encoding: chunked", 300_000_000),
        ("300 MB, as a stranger", "/v1/models", "Transfer-Encoding: chunked", 300_000_000),
        ("both lengths", "/login", "Content-Length: 5\r\nTransfer-Encoding: chunked", 300_000_000),
    ):
        product.watch.reset()
        status, sent = _pour(product.port, path, headers, size)
        wanted = {"both lengths": "400", "300 MB, as a stranger": "401"}.get(name, "413")
        yield Row(
            f"{name} to {path}",
            f"{wanted} within 2 MB",
            f"{status} after {sent / MEGABYTE:.2f} MB",
            status == wanted,
            (sent / MAX_READ,),
        )


def _pour(port: int, path: str, headers: str, size: int) -> tuple[str, int]:
    """Send a body until the server answers or hangs up; return its status and the bytes taken."""
    is_chunked = "chunked" in headers
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        # A small buffer, so that what is sent is what the server has read.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n\r\n"
        connection.sendall(head.encode())
        sent = 0
        with suppress(OSError):
            while sent < size:
                framed = b"%x\r\n%b\r\n" % (len(CHUNK), CHUNK) if is_chunked else CHUNK
                connection.sendall(framed)
                sent += len(CHUNK)
                connection.setblocking(False)
                try:
                    answer = connection.recv(200)
                    return answer.partition(b" ")[2][:3].decode(), sent
                except BlockingIOError:
                    pass
                finally:
                    connection.settimeout(10)
        with suppress(OSError):
            return connection.recv(200).partition(b" ")[2][:3].decode(), sent
    return "hung up", sent


def slow_headers(product: Product) -> Iterator[Row]:
    """Send one header line a second on many connections."""
    product.watch.reset()
    connections = [socket.create_connection(("127.0.0.1", product.port)) for _ in range(200)]
    for connection in connections:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n")
    began = time.monotonic()
    open_ = list(connections)
    while open_ and time.monotonic() - began < 2 * HEADER_SECONDS:
        time.sleep(1)
        open_ = [connection for connection in open_ if _is_open(connection)]
    seconds = time.monotonic() - began
    for connection in connections:
        connection.close()
    yield Row(
        "200 connections with slow headers",
        "closed within 15 s",
        f"{200 - len(open_)} closed in {seconds:.0f} s",
        not open_,
        (seconds / HEADER_SECONDS,),
    )
    yield _health(product)


def _is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        connection.send(b"X: y\r\n")
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def anonymous_readiness(product: Product) -> Iterator[Row]:
    """Ask, as a stranger, whether a product is ready whose Slack endpoint is not."""
    found = httpx.get(f"{product.address}/readyz", trust_env=False)
    yield Row(
        "/readyz while Slack is away, as a stranger",
        "503, no names",
        f"{found.status_code}, {found.text}",
        found.status_code == httpx.codes.SERVICE_UNAVAILABLE and found.json().keys() == {"status"},
    )


def dropped_cookies(product: Product) -> Iterator[Row]:
    """Ask slow models as one new visitor after another, until nobody is let ask any more."""
    accepted = 0
    while accepted < 30 and product.browser().ask("drip").status_code == httpx.codes.SEE_OTHER:
        accepted += 1
    ((micro,),) = product.home.sql("SELECT sum(max(spent_micro, reserved_micro)) FROM spending")
    yield Row(
        "a new cookie for each question",
        f"refused, <= user_day_usd of ${CAP_USD} in all",
        f"refused after {accepted}, ${micro / 1e6:.4f}",
        0 < accepted < 30 and micro / 1e6 <= CAP_USD,
    )


def large_questions(product: Product, requests: int = 10) -> Iterator[Row]:
    """Ask, with an API key that may spend nothing, what must be refused before it costs time."""
    key, watch = product.api_key("large"), product.watch
    for name, messages, wanted in (
        ("13 MB of text", _message(b'"%s"' % (b"a" * 13_000_000)), 400),
        ("2 MB of invisible text", _message(b'"a%s"' % ("\u200b" * 660_000).encode()), 400),
        ("13 MB of escapes", _message(b'"%s"' % (b"\\u4e2d" * 2_100_000)), 413),
        ("460,000 empty messages", b",".join([_message(b'""')] * 460_000), 413),
        ("10,000 empty messages", b",".join([_message(b'""')] * 10_000), 400),
        ("4.6 million lists", b",".join([b"[]"] * 4_600_000), 413),
        ("a file name of 13 MB", _message(_file(b"a" * 13_000_000)), 200),
    ):
        body = b'{"model": "council", "messages": [%s]}' % messages
        watch.reset()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            asked = list(pool.map(partial(product.call, COMPLETIONS, key), [body] * requests))
        statuses = {response.status_code for response in asked}
        yield Row(name, f"{wanted}", ", ".join(map(str, statuses)), statuses == {wanted})
        yield _health(product)
    watch.reset()
    found = product.browser().ask("fine", "a" * 3_900_000).status_code
    yield Row("3.9 MB of text in the page's form", "422", str(found), found == 422)
    yield _health(product)


def _message(content: bytes) -> bytes:
    return b'{"role":"user","content":%s}' % content


def _file(name: bytes) -> bytes:
    data = b"data:text/plain;base64,aGVsbG8="
    part = b'{"type": "file", "file": {"filename": "%s", "file_data": "%s"}}' % (name, data)
    return b'[{"type": "text", "text": "Is it?"}, %s]' % part


def idle_clients(product: Product, number: int) -> Iterator[Row]:
    """Start clients of MCP that never come back; the next one must still be answered."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}}
    params["clientInfo"] = {"name": "idle", "version": "1"}
    start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    body = json.dumps(start).encode()
    product.call("/mcp", TOKEN, body)  # the library is loaded
    product.watch.reset()
    statuses = [product.call("/mcp", TOKEN, body).status_code for _ in range(number)]
    yield Row(
        f"{number:,} idle clients of MCP",
        "200 for each",
        f"{statuses.count(200):,} times 200, then {statuses[-1]}",
        set(statuses) == {200},
    )
    yield _health(product)


def idle_connections(product: Product, number: int) -> Iterator[Row]:
    """Open more connections than are allowed, and look at what those above the limit get."""
    raise_file_limit()
    logged, refused = product.log, 0
    with ExitStack() as stack:
        for _ in range(number):
            connection = socket.create_connection(("127.0.0.1", product.port), timeout=10)
            stack.enter_context(connection)
        # A busy server takes a moment to accept those that fit.
        _wait_for_answer(product, httpx.codes.SERVICE_UNAVAILABLE)
        replies = {_try_health(product) for _ in range(10)}
        refused = product.log.count("connections_refused") - logged.count("connections_refused")
    more = product.log.removeprefix(logged)
    back = _wait_for_answer(product, httpx.codes.OK)
    yield Row(
        f"{number:,} idle connections",
        "503 above the limit, one line in the log, no traceback, then 200",
        f"{', '.join(map(str, replies))}, {refused} lines, {more.count('Traceback')}, {back}",
        replies == {503} and refused == 1 and "Traceback" not in more and back == httpx.codes.OK,
    )


def _try_health(product: Product) -> int:
    return httpx.get(f"{product.address}/healthz", trust_env=False).status_code


def _wait_for_answer(product: Product, wanted: int) -> int:
    """Return the status of the health check once it is the one wanted, or that of the last try."""
    until = time.monotonic() + HEADER_SECONDS
    while (status := _try_health(product)) != wanted and time.monotonic() < until:
        time.sleep(0.1)
    return status


def logins(product: Product) -> Iterator[Row]:
    """Guess the token at the login and as a bearer, next to people with keys and sessions."""
    key, revoked, browser = product.api_key("mine"), product.api_key("old"), product.browser()
    product.home.invoke("key", "revoke", "old")
    wrong = [product.call("/v1/models", revoked).status_code for _ in range(15)]
    wrong += [product.call("/metrics", key).status_code for _ in range(15)]
    after = product.call("/metrics", TOKEN).status_code
    yield Row(
        "a revoked key, and a key at the wrong address",
        "401 for each, 200 for the token",
        f"{', '.join(map(str, set(wrong)))}, {after}",
        set(wrong) == {401} and after == httpx.codes.OK,
    )
    guesses = product.visitor()
    statuses = [guesses.log_in(f"guess {number}") for number in range(15)]
    right, bearer = guesses.log_in(TOKEN), product.call("/metrics", TOKEN)
    first = statuses.index(429) if 429 in statuses else len(statuses)
    others = product.call("/v1/models", key).status_code, browser.client.get("/").status_code
    yield Row(
        "guesses of the token",
        "429 after 10, also for the right one and as a bearer; 200 for a key and a session",
        f"429 after {first}, {right}, {bearer.status_code}, Retry-After "
        f"{bearer.headers.get('retry-after')}; {others[0]}, {others[1]}",
        first <= 10
        and right == bearer.status_code == httpx.codes.TOO_MANY_REQUESTS
        and set(others) == {200},
    )


def file_modes(folder: Path) -> Iterator[Row]:
    """Look at the modes of the data folder and of every file in it."""
    data = folder / "data"
    loose = [path.name for path in data.rglob("*") if path.is_file() and path.stat().st_mode & 0o77]
    mode = data.stat().st_mode & 0o777
    yield Row(
        "modes of the data folder and its files",
        "700, and 600 for each",
        f"{mode:o}, others: {', '.join(loose) or 'none'}",
        mode == 0o700 and not loose,
    )
