"""The product as a process that serves its page and can be killed and restarted."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from tests.bot.homes import TIMEOUT_SECONDS, Home, seat_toml
from tests.fork_server import ForkedProcess
from tests.ports import free_port


@dataclass(slots=True)
class Product:
    """`council serve` in a home folder, on the same port after each restart."""

    home: Home
    port: int
    fresh: bool = False  # whether its processes are fresh ones, not forked
    process: subprocess.Popen[bytes] | ForkedProcess | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.home.folder / "serve.log").read_text(encoding="utf-8")

    async def start(self, *arguments: str, path: str = "/healthz") -> None:
        """Start the process and wait until it answers."""
        with (self.home.folder / "serve.log").open("ab") as log:
            # Not a child of this event loop: it can be killed and awaited without one.
            home = self.home.with_settings(COUNCIL_PORT=str(self.port))
            self.process = await asyncio.to_thread(
                home.launched, "serve", *arguments, output=log.fileno(), fresh=self.fresh
            )
        await self.answers(path)

    async def answers(self, path: str) -> None:
        """Wait until a path answers with 200."""
        assert self.process
        client = httpx.AsyncClient(base_url=self.address, timeout=10, trust_env=False)
        async with client, asyncio.timeout(TIMEOUT_SECONDS):
            while not await _answers(client, path):
                assert self.process.poll() is None, self.log
                await asyncio.sleep(0.05)

    def kill(self) -> None:
        """Kill the process with SIGKILL, like a crash."""
        if self.process:
            self.process.kill()
            self.process.wait()


async def _answers(client: httpx.AsyncClient, path: str) -> bool:
    try:
        return (await client.get(path)).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


@asynccontextmanager
async def serve_product(home: Home, *arguments: str, fresh: bool = False) -> AsyncIterator[Product]:
    """Serve a home folder's page until the end of the block, in a forked or a fresh process."""
    product = Product(home, free_port(), fresh)
    try:
        await product.start(*arguments)
        yield product
    finally:
        product.kill()


def panels_of(api_base: str, **panels: Iterable[str]) -> str:
    """Return a council.toml with these panels, their members served at one address.

    The first panel is the default. There are no audit ballots, so that calls are easy to count.
    """
    names = {name: [f"openai/{seat}" for seat in seats] for name, seats in panels.items()}
    lines = [f'default_panel = "{next(iter(panels))}"']
    for name, seats in names.items():
        lines += [f"[panels.{name}]", f"members = {seats}", "audit_share = 0.0"]
    keys = dict.fromkeys(seat for seats in names.values() for seat in seats)
    return "\n".join(lines) + "\n" + "".join(seat_toml(key, api_base=api_base) for key in keys)
