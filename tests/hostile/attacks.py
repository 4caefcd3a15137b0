"""The attacks: each takes the running product and yields rows of what it measured."""

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.bot.homes import LETTERS
from tests.hostile.product import CAP_USD, MEGABYTE, TOKEN, PageClient, Product
from tests.hostile.suite_bombs import BOMBS
from tests.wire.hostile_provider import ATTACKS

MAX_MEMORY, MAX_HEALTH_SECONDS = 400 * MEGABYTE, 0.3
MAX_BOMB_MEMORY, MAX_BOMB_SECONDS = 200 * MEGABYTE, 2.0
MAX_READ = 2 * MEGABYTE
HEADER_SECONDS = 15.0
CHUNK = b"x" * 16_384


@dataclass(frozen=True, slots=True)
class Row:
    """What was attacked, the target, what was measured, and whether that is within the target."""

    attack: str
    target: str
    measured: str
    passed: bool


def attack_all(product: Product) -> Iterator[Row]:
    """Run every attack and yield its rows."""
    yield from hostile_provider(product)
    yield from suite_bombs(product)
    yield from large_bodies(product)
    yield from slow_headers(product)
    yield from anonymous_readiness(product)
    yield from dropped_cookies(product)
    yield from logins(product)  # last: this address cannot log in afterwards


def hostile_provider(product: Product) -> Iterator[Row]:
    """Ask a round on each panel that has a hostile model, which must cost the others nothing."""
    browser, watch = product.browser(), product.watch
    browser.run_round("fine")  # litellm is loaded
    watch.reset()
    yield Row("at rest", "", f"{watch.memory / MEGABYTE:.0f} MB", passed=True)
    for attack in ATTACKS:
        watch.reset()
        document = browser.run_round(attack)
        healthy = set(LETTERS[:4])
        answers = healthy & {answer["member"] for answer in document["answers"]}
        ballots = healthy & {ballot["judge"] for ballot in document["ballots"] if ballot["counted"]}
        cost = document["cost_usd"]
        yield Row(
            f"provider: {attack}",
            "< 400 MB, health < 300 ms, 4 answers, 4 ballots, cost >= 0",
            f"{watch.memory / MEGABYTE:.0f} MB, {watch.slowest * 1000:.0f} ms, {len(answers)}, "
            f"{len(ballots)}, {'unknown' if cost is None else f'${cost:.4f}'}",
            document["stage"] == "closed"
            and len(answers) == len(ballots) == len(healthy)
            and watch.memory < MAX_MEMORY
            and watch.slowest < MAX_HEALTH_SECONDS
            and (cost is None or 0 <= cost < CAP_USD),
        )


def suite_bombs(product: Product) -> Iterator[Row]:
    """Upload every bomb as a suite."""
    browser, watch = product.browser(), product.watch
    worst: list[tuple[float, str]] = []
    most: list[tuple[float, str]] = []
    wrong: list[str] = []
    watch.reset()
    for name, (filename, text) in BOMBS.items():
        before, began = product.process.memory_info().rss, time.perf_counter()
        watch.memory = before
        reply = browser.upload(filename, text.encode())
        worst.append((time.perf_counter() - began, name))
        most.append(((watch.memory - before) / MEGABYTE, name))
        if reply.status_code not in {200, 422} or (
            filename == "s.toml" and "read" not in reply.text
        ):
            wrong.append(f"{name}: {reply.status_code}")
    (seconds, slowest), (memory, largest) = max(worst), max(most)
    yield Row(
        f"{len(BOMBS)} suite bombs",
        "each < 200 MB more, < 2 s, no error",
        f"{memory:.0f} MB ({largest}), {seconds:.2f} s ({slowest}), {', '.join(wrong) or 'none'}",
        memory * MEGABYTE < MAX_BOMB_MEMORY and seconds < MAX_BOMB_SECONDS and not wrong,
    )
    yield Row(
        "health meanwhile",
        "< 300 ms",
        f"{watch.slowest * 1000:.0f} ms",
        watch.slowest < MAX_HEALTH_SECONDS and not watch.failures,
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
            status == wanted and sent < MAX_READ,
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
        "closed within 15 s, health < 300 ms",
        f"{200 - len(open_)} closed in {seconds:.0f} s, {product.watch.slowest * 1000:.0f} ms",
        not open_ and seconds < HEADER_SECONDS and product.watch.slowest < MAX_HEALTH_SECONDS,
    )


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


def logins(product: Product) -> Iterator[Row]:
    """Guess the token at the login and as a bearer."""
    guesses = PageClient(httpx.Client(base_url=product.address, timeout=60, trust_env=False))
    statuses = [guesses.log_in(f"guess {number}") for number in range(15)]
    right = guesses.log_in(TOKEN)
    bearer = httpx.get(
        f"{product.address}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False
    )
    first = statuses.index(429) if 429 in statuses else len(statuses)
    yield Row(
        "guesses of the token",
        "429 after 10, also for the right one and as a bearer",
        f"429 after {first}, {right}, {bearer.status_code}, Retry-After "
        f"{bearer.headers.get('retry-after')}",
        first <= 10 and right == bearer.status_code == httpx.codes.TOO_MANY_REQUESTS,
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
