"""The Procfile's own lines: release, then web, which listens, says so, and stops when told to."""

import asyncio
import os
import shlex
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx

from tests.bot.homes import TIMEOUT_SECONDS, Home, Result, wait_for_exit
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
    """Run `web` until it answers; whatever happens, it does not outlive the test."""
    process = await start(home, "web")
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not await status(port, "/healthz"):
                assert process.returncode is None
                await asyncio.sleep(0.05)
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()


async def status(port: int, path: str) -> int | None:
    async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
        try:
            return (await client.get(f"http://127.0.0.1:{port}{path}")).status_code
        except httpx.TransportError:
            return None


def test_the_procfile_names_a_release_and_a_web_process() -> None:
    assert process_lines().keys() == {"release", "web"}


async def test_release_then_web_answers_on_the_platforms_port_and_stops_cleanly(
    home: Home,
) -> None:
    port = free_port()
    home = home.with_settings(PORT=str(port))
    released = await wait_for_exit(await start(home, "release"))

    async with serving(home, port) as process:
        found = [await status(port, path) for path in ("/healthz", "/readyz", "/nowhere")]
        process.send_signal(signal.SIGTERM)
        ran = await wait_for_exit(process)

    assert (released.code, found) == (0, [200, 200, 404])
    assert (ran.code, ran.out) == (0, "")
    assert f"127.0.0.1:{port}" in ran.err
    assert "Traceback" not in ran.err


async def test_web_is_not_ready_when_its_database_is_damaged(home: Home) -> None:
    port = free_port()
    home = home.with_settings(PORT=str(port))

    async with serving(home, port) as process:
        home.sql("DROP TABLE label")
        home.sql("DROP TABLE round")
        found = [await status(port, path) for path in ("/healthz", "/readyz")]
        process.send_signal(signal.SIGINT)
        ran = await wait_for_exit(process)

    assert found == [200, 503]
    assert ran.code in {0, 1}


async def test_a_port_in_use_is_an_error_in_one_sentence(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = await wait_for_exit(await start(home.with_settings(PORT=str(port)), "web"))

    assert is_one_sentence(ran)
    assert f"127.0.0.1:{port} cannot be listened on" in ran.err


async def test_without_a_panel_it_does_not_start(home: Home) -> None:
    ran = await wait_for_exit(await start(home.with_config("").with_settings(PORT="0"), "web"))

    assert ran.code != 0
    assert len(ran.lines) == 1
    assert "council.toml" in ran.err


def is_one_sentence(ran: Result) -> bool:
    return (ran.code, ran.out, len(ran.lines)) == (1, "", 1)


def test_the_program_is_found_on_the_path(home: Home) -> None:
    folders = home.environment["PATH"].split(os.pathsep)

    assert any((Path(folder) / "council").exists() for folder in folders)
