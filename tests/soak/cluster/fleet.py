"""Processes of a cluster, each with its own home folder as if on its own machine, and Postgres."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from weakref import WeakKeyDictionary

import httpx
import psutil

from tests.bot.homes import PROGRAM, Home
from tests.ports import free_port
from tests.postgres import Server

START_SECONDS = 90.0
STOP_SECONDS = 15.0  # after which most hosts have killed
_PAUSE_SECONDS = 0.1


class Owners:
    """Knows the processes that may connect, and remembers whose each connection was.

    Processes of a cluster have the same settings, so only the system can tell them apart.
    """

    def __init__(self) -> None:
        self.pids: set[int] = set()
        self._known: WeakKeyDictionary[asyncio.BaseTransport, int] = WeakKeyDictionary()

    def of(self, transport: asyncio.BaseTransport | None) -> int | None:
        """Return the process at the other end, None where it is gone or none of these."""
        if transport is None:
            return None
        if transport not in self._known:
            found = self._found(transport)
            if found is None:
                return None
            self._known[transport] = found
        return self._known[transport]

    def _found(self, transport: asyncio.BaseTransport) -> int | None:
        ends = [transport.get_extra_info(name) for name in ("peername", "sockname")]
        if not all(ends):
            return None
        theirs, ours = (end[1] for end in ends)
        return next((pid for pid in self.pids if _has(pid, (theirs, ours))), None)


def _has(pid: int, ports: tuple[int, int]) -> bool:
    """Return whether a process holds a connection from a port to another.

    The port it comes from is not enough: it may be used to another address as well.
    """
    try:
        held = psutil.Process(pid).net_connections("tcp4")
    except psutil.Error:
        return False
    return any((one.laddr[1:] + one.raddr[1:]) == ports for one in held)


class Copy:
    """One process of the product after another, in a home and at a port that stay."""

    def __init__(self, home: Home, owners: Owners) -> None:
        self.home = home
        self.address = f"http://127.0.0.1:{home.settings['COUNCIL_PORT']}"
        self._log = home.folder / "log.txt"
        self._owners = owners

    @property
    def pid(self) -> int:
        """The process that runs now, or ran last."""
        return self._process.pid

    @property
    def said(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    async def start(self) -> None:
        """Start one; it is not ready yet."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *PROGRAM,
                "serve",
                cwd=self.home.folder,
                env=self.home.environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._owners.pids.add(self.pid)

    async def ready(self) -> None:
        """Wait until it can hold a round; fail with what it said where it never can."""
        async with asyncio.timeout(START_SECONDS), _client() as client:
            while True:
                assert self._process.returncode is None, self.said
                with suppress(httpx.TransportError):
                    if (await client.get(f"{self.address}/readyz")).status_code == 200:
                        return
                await asyncio.sleep(_PAUSE_SECONDS)

    async def kill(self) -> float:
        """Kill it as a machine would, and give when that was."""
        self._process.kill()
        killed = time.time()
        await self._process.wait()
        self._owners.pids.discard(self.pid)
        return killed

    def freeze(self) -> float:
        """Freeze the process until it is thawed; return the moment."""
        self._process.send_signal(signal.SIGSTOP)
        return time.time()

    def thaw(self) -> float:
        """Thaw the process; return the moment."""
        self._process.send_signal(signal.SIGCONT)
        return time.time()

    async def stop(self) -> int:
        """Send SIGTERM and return the exit code; kill the process after the timeout."""
        with suppress(ProcessLookupError):
            self._process.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        if self._process.returncode is None:
            await self.kill()
        self._owners.pids.discard(self.pid)
        return self._process.returncode or 0


class Fleet:
    """Copies that run together; `exits` are their exit codes once they were told to stop."""

    def __init__(self, homes: Iterable[Home], owners: Owners) -> None:
        self.copies = [Copy(home, owners) for home in homes]
        self.exits: list[int] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run all processes, started at the same moment, until the block ends."""
        try:
            await asyncio.gather(*(copy.start() for copy in self.copies))
            await asyncio.gather(*(copy.ready() for copy in self.copies))
            yield
        finally:
            self.exits = await asyncio.gather(*(copy.stop() for copy in self.copies))

    async def says(self, words: str) -> None:
        async with asyncio.timeout(START_SECONDS):
            while not all(words in c.said for c in self.copies):  # noqa: ASYNC110 - they write it
                await asyncio.sleep(_PAUSE_SECONDS)


def homes(folder: Path, settings: Mapping[str, str], config: str, number: int) -> list[Home]:
    """Return homes with the same settings, each as on a separate machine."""
    made = []
    for name in range(number):
        home = Home(folder / str(name), {**settings, "COUNCIL_PORT": str(free_port())})
        home.folder.mkdir(parents=True)
        made.append(home.with_config(config))
    return made


def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=5, trust_env=False)


@contextmanager
def a_server() -> Iterator[Server]:
    server = Server()
    try:
        server.start()
        yield server
    finally:
        server.remove()
