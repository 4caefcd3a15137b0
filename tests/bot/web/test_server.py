"""The server: a story of the Procfile's one process; the port and its socket."""

import os
import resource
import shlex
import socket
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from bot.web.server import MAX_OPEN_FILES, raise_file_limit, run_server
from council.errors import CouncilError
from tests.bot.homes import Home
from tests.deploy.running import answering, stop
from tests.ports import free_port

PROCFILE = Path(__file__).parents[3] / "Procfile"


def process_lines() -> dict[str, str]:
    lines = PROCFILE.read_text(encoding="utf-8").splitlines()
    return {name.strip(): command.strip() for name, _, command in (x.partition(":") for x in lines)}


def test_the_procfile_names_one_process_that_does_not_end() -> None:
    # Programs such as honcho stop all processes when one of them ends.
    assert process_lines().keys() == {"web"}


async def test_web_answers_on_the_platforms_port_and_stops_cleanly(home: Home) -> None:
    port = free_port()
    home = home.with_settings(PORT=str(port))

    command, address = shlex.split(process_lines()["web"]), f"http://127.0.0.1:{port}"
    async with (
        answering(command, home.folder, home.environment, port) as process,
        httpx.AsyncClient(base_url=address, timeout=10, trust_env=False) as visitor,
    ):
        paths = ("/healthz", "/readyz", "/nowhere")
        found = [(await visitor.get(path)).status_code for path in paths]
        ran, _ = await stop(process)

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


def test_the_soft_limit_of_open_files_is_raised() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))

    allowed = raise_file_limit()

    assert 512 < allowed <= MAX_OPEN_FILES
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (allowed, hard)
    assert raise_file_limit() == allowed


def test_the_program_is_found_on_the_path(home: Home) -> None:
    folders = home.environment["PATH"].split(os.pathsep)

    assert any((Path(folder) / "council").exists() for folder in folders)
