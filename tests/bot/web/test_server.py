"""The server: a story of the Procfile's one process; the port and its socket."""

import asyncio
import os
import shlex
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from bot.web.server import run_server
from council.errors import CouncilError
from tests.bot.homes import TIMEOUT_SECONDS, Home, wait_for_exit
from tests.ports import free_port

PROCFILE = Path(__file__).parents[3] / "Procfile"


def process_lines() -> dict[str, str]:
    lines = PROCFILE.read_text(encoding="utf-8").splitlines()
    return {name.strip(): command.strip() for name, _, command in (x.partition(":") for x in lines)}


async def start(home: Home, name: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *shlex.split(process_lines()[name]),
        cwd=home.folder,
        env=home.environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@asynccontextmanager
async def serving(home: Home, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run `web`, and wait until it answers; kill it at the end of the block."""
    process = await start(home, "web")
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS), visitor_of(port) as visitor:
            while not await status(visitor, "/healthz"):
                assert process.returncode is None
                await asyncio.sleep(0.05)
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()


def visitor_of(port: int) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=10, trust_env=False)


async def status(visitor: httpx.AsyncClient, path: str) -> int | None:
    try:
        return (await visitor.get(path)).status_code
    except httpx.TransportError:
        return None


def test_the_procfile_names_one_process_that_does_not_end() -> None:
    # Programs such as honcho stop all processes when one of them ends.
    assert process_lines().keys() == {"web"}


async def test_web_answers_on_the_platforms_port_and_stops_cleanly(home: Home) -> None:
    port = free_port()
    home = home.with_settings(PORT=str(port))

    async with serving(home, port) as process, visitor_of(port) as visitor:
        found = [await status(visitor, path) for path in ("/healthz", "/readyz", "/nowhere")]
        process.send_signal(signal.SIGTERM)
        ran = await wait_for_exit(process)

    assert found == [200, 200, 404]
    assert (ran.code, ran.out) == (0, "")
    assert f"127.0.0.1:{port}" in ran.err
    assert "Traceback" not in ran.err


async def test_a_port_in_use_is_an_error() -> None:
    async def on_bound() -> None:
        raise AssertionError

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CouncilError, match=f"127.0.0.1:{port}"):
            async with run_server(Starlette(), "127.0.0.1", port, on_bound):
                pass


async def test_replies_are_sent_without_delay() -> None:
    async def on_bound() -> None:
        pass

    async with run_server(Starlette(), "127.0.0.1", 0, on_bound) as server:
        async with httpx.AsyncClient(trust_env=False) as client:
            await client.get(server.address)  # the server has its sockets now
        (sock,) = server.servers[0].sockets

        # Accepted connections inherit it; without it, every other reply waits 40 ms.
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_program_is_found_on_the_path(home: Home) -> None:
    folders = home.environment["PATH"].split(os.pathsep)

    assert any((Path(folder) / "council").exists() for folder in folders)
