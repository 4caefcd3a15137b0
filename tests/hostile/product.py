"""The product as a process under attack, its page, and a watch on its memory and its health."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import IO, Any

import httpx
import psutil

from tests.bot.homes import LETTERS, PROGRAM, Home, panel_toml, seat_toml
from tests.ports import free_port
from tests.wire.hostile_provider import ATTACKS

TOKEN = "a long random text for the page"
ANSWER_SECONDS = 10
CAP_USD = 0.15
MEGABYTE = 1e6


def config(provider: str) -> str:
    """Return a council.toml with a panel for each attack: four scripted seats and a hostile one."""
    healthy = "".join(seat_toml(key, model="scripted/random") for key in LETTERS[:4])
    panels, seats = "", ""
    for attack in ATTACKS:
        panel = panel_toml([*LETTERS[:4], f"openai/{attack}"], answer_seconds=ANSWER_SECONDS)
        panel += f"ballot_seconds = {ANSWER_SECONDS}\n"
        panels += panel.replace("[panels.house]", f"[panels.{attack}]")
        prices = {"input_usd_per_million": 1.0, "output_usd_per_million": 3.0}
        priced = prices if attack in {"absurd", "absurd-in", "negative", "drip"} else {}
        seats += seat_toml(
            f"openai/{attack}",
            api_base=f"{provider}/{attack}/v1",
            stream=attack.endswith("-stream"),
            **priced,
        )
    return f'default_panel = "fine"\n{panels}{healthy}{seats}[budgets]\nuser_day_usd = {CAP_USD}\n'


@dataclass(slots=True)
class Watch:
    """The most memory and the times of health checks since `reset`, as another process saw them."""

    samples: IO[bytes]
    memory: float = 0.0
    seconds: list[float] = field(default_factory=list)
    failures: int = 0

    def reset(self) -> None:
        """Forget what was measured."""
        self.memory, self.seconds, self.failures = 0.0, [], 0

    @property
    def health(self) -> float:
        """The seconds within which 99 of 100 health checks were answered."""
        return sorted(self.seconds)[len(self.seconds) * 99 // 100] if self.seconds else 0.0

    @property
    def slowest(self) -> float:
        """The seconds of the slowest health check."""
        return max(self.seconds, default=0.0)

    def watch(self) -> None:
        """Read samples until the process ends."""
        for line in self.samples:
            seconds, has_failed, memory = line.split()
            self.seconds.append(float(seconds))
            self.failures += int(has_failed)
            self.memory = max(self.memory, float(memory))


@dataclass(slots=True)
class Product:
    """A running product: its port, its provider's address, and the watch on it."""

    home: Home
    port: int
    process: psutil.Process
    watch: Watch
    clients: ExitStack

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def processor_seconds(self) -> float:
        """The processor time of the product."""
        times = self.process.cpu_times()
        return times.user + times.system

    @property
    def log(self) -> str:
        """What the product has written on stderr."""
        return (self.home.folder / "errors.log").read_text(encoding="utf-8", errors="replace")

    def api_key(self, name: str) -> str:
        """Return a new API key that may spend nothing."""
        return self.home.invoke("key", "add", name, "--cap", "0").out.strip()

    def call(self, path: str, bearer: str, body: bytes = b"") -> httpx.Response:
        """Send a request with a bearer token: the body as JSON, or a GET without one."""
        headers = {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"}
        headers |= {"Accept": "application/json, text/event-stream"}
        return httpx.request(
            "POST" if body else "GET",
            f"{self.address}{path}",
            headers=headers,
            content=body,
            timeout=60,
            trust_env=False,
        )

    def visitor(self) -> "PageClient":
        """Return a new visitor."""
        client = httpx.Client(base_url=self.address, timeout=60, trust_env=False)
        return PageClient(self.clients.enter_context(client))

    def browser(self) -> "PageClient":
        """Return a new visitor who has logged in."""
        browser = self.visitor()
        browser.log_in()
        return browser


@dataclass(slots=True)
class PageClient:
    """A visitor of the page."""

    client: httpx.Client

    def form_token(self, path: str = "/") -> str:
        page = self.client.get(path, headers={"accept": "text/html"}).text
        return page.partition('name="token" value="')[2].partition('"')[0]

    def log_in(self, token: str = TOKEN) -> int:
        fields = {"token": self.form_token("/login"), "next": "/", "password": token}
        return self.client.post("/login", data=fields).status_code

    def ask(self, panel: str, question: str = "Which queue?") -> httpx.Response:
        fields = {"token": self.form_token(), "question": question, "panel": panel}
        return self.client.post("/ask", data=fields, headers={"accept": "text/html"})

    def run_round(self, panel: str) -> dict[str, Any]:
        """Ask, wait for the round's end, and return its document."""
        asked = self.ask(panel)
        assert asked.status_code == 303, asked.text
        path = asked.headers["location"]
        until = time.monotonic() + 6 * ANSWER_SECONDS
        while not self.client.get(f"{path}/state").json()["closed"] and time.monotonic() < until:
            time.sleep(0.1)
        document: dict[str, Any] = json.loads(self.client.get(f"{path}/round.json").text)
        return document

    def upload(self, filename: str, content: bytes) -> httpx.Response:
        fields = {"token": self.form_token("/suites"), "name": "bomb"}
        files = {"file": (filename, content)}
        return self.client.post("/suites", data=fields, files=files)


@contextmanager
def child(
    *arguments: str, cwd: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process until the block ends."""
    pipe = subprocess.PIPE
    with (cwd / "errors.log").open("ab") as errors:
        process = subprocess.Popen(
            arguments, cwd=cwd, env=environment, stdin=pipe, stdout=pipe, stderr=errors
        )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def running_product(folder: Path, max_files: int | None = None) -> Iterator[Product]:
    """Run the product next to a hostile provider until the block ends.

    With `max_files` it may open no more files, so that it takes fewer connections.
    """
    root = Path(__file__).parents[2]
    provider_command = (sys.executable, "-m", "tests.wire.hostile_provider")
    port = free_port()
    slack = {
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_SIGNING_SECRET": "0123456789abcdef",
        "SLACK_API_URL": "http://127.0.0.1:9/api/",
    }
    home = Home(folder, {"COUNCIL_PORT": str(port), "COUNCIL_WEB_TOKEN": TOKEN, **slack})
    environment = {**home.environment, "PYTHONPATH": str(root)}
    with child(*provider_command, cwd=folder, environment=environment) as provider:
        assert provider.stdout
        home.with_config(config(provider.stdout.readline().decode().strip())).with_tables()
        with child(*PROGRAM, "serve", cwd=folder, environment=home.environment) as process:
            if max_files:
                resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (max_files, max_files))
            _wait_until_up(process, port, folder / "errors.log")
            watched, watcher = str(process.pid), (sys.executable, "-m", "tests.hostile.watch")
            with child(
                *watcher, str(port), watched, cwd=folder, environment=environment
            ) as sampler:
                assert sampler.stdout
                watch = Watch(sampler.stdout)
                Thread(target=watch.watch, daemon=True).start()
                with ExitStack() as clients:
                    yield Product(home, port, psutil.Process(process.pid), watch, clients)


def _wait_until_up(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        with suppress(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False)
            return
        time.sleep(0.05)
    raise AssertionError(log.read_text())
