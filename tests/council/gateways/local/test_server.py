"""The server process, with scripts in place of llama.cpp's server."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from council.errors import GatewayError
from council.gateways.local.download import LocalFiles
from council.gateways.local.server import (
    CPU_FLAGS,
    LocalServer,
    Machine,
    free_bytes,
    inspect_machine,
    unsupported_reason,
)

STOP_SECONDS = 30
# Responds to every request, and reports its process id in its folder.
LLAMA = """
import os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        self.send_response(500)
        self.end_headers()

port = int(sys.argv[sys.argv.index("--port") + 1])
with open(os.environ["HOME"] + "/pid", "w") as file:
    file.write(str(os.getpid()))
HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""
PARENT = """
import asyncio, sys
from pathlib import Path
from council.gateways.local.download import LocalFiles
from council.gateways.local.server import LocalServer

async def main() -> None:
    executable, folder = map(Path, sys.argv[1:])
    async with LocalServer(LocalFiles(executable, {}), folder):
        print("ready", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def llama_files(folder: Path) -> LocalFiles:
    """Return a server that responds, and a model that it cannot load."""
    script = folder / "llama.py"
    script.write_text(LLAMA)
    return files_with(f'exec {sys.executable} {script} "$@"', folder)


def llama_process(folder: Path) -> psutil.Process:
    return psutil.Process(int((folder / "pid").read_text()))


def files_with(script: str, folder: Path) -> LocalFiles:
    server = folder / "llama-server"
    server.write_text(f"#!/bin/sh\n{script}\n")
    server.chmod(0o755)
    return LocalFiles(server, {"tiny": folder / "tiny.gguf"})


async def test_a_server_that_exits_shows_the_last_line_of_its_log(tmp_path: Path) -> None:
    files = files_with("echo loading; echo no such thing >&2; exit 1", tmp_path)

    with pytest.raises(GatewayError, match=r"stopped during start-up\. .* 'no such thing'"):
        await LocalServer(files, tmp_path).__aenter__()


async def test_an_unresponsive_server_is_stopped_at_its_deadline(tmp_path: Path) -> None:
    files = files_with(f"echo $$ >{tmp_path}/pid; exec sleep 60", tmp_path)

    with pytest.raises(GatewayError, match="did not start in time"):
        await LocalServer(files, tmp_path, start_seconds=0.3).__aenter__()

    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


async def test_a_missing_server_is_one_sentence(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path / "gone", {})

    with pytest.raises(GatewayError, match="The local model server can't be started here"):
        await LocalServer(files, tmp_path).__aenter__()


async def test_the_settings_name_every_model(tmp_path: Path) -> None:
    with pytest.raises(GatewayError):
        await LocalServer(files_with("exit 1", tmp_path), tmp_path).__aenter__()

    settings = (tmp_path / "models.ini").read_text()
    assert settings.startswith("[*]\nc = 4096\nt = 2\nnp = 1\n")
    assert settings.endswith(f"[tiny]\nmodel = {tmp_path}/tiny.gguf\n")


async def test_the_environment_of_the_machine_does_not_reach_the_server(tmp_path: Path) -> None:
    files = files_with("env | sort | cut -d= -f1 | tr '\\n' ' '", tmp_path)

    with pytest.raises(GatewayError, match=r"'HOME LLAMA_API_KEY OMP_WAIT_POLICY PWD ?[_ ]*'"):
        await LocalServer(files, tmp_path).__aenter__()


async def test_the_key_shows_in_no_process_list(tmp_path: Path) -> None:
    async with LocalServer(llama_files(tmp_path), tmp_path) as server:
        command = llama_process(tmp_path).cmdline()

    assert "--port" in command
    assert server.api_key not in " ".join(command)


async def test_stopping_ends_all_processes(tmp_path: Path) -> None:
    async with LocalServer(llama_files(tmp_path), tmp_path):
        process = llama_process(tmp_path)

    assert not process.is_running()


async def test_a_model_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    async with LocalServer(llama_files(tmp_path), tmp_path) as server:
        with pytest.raises(GatewayError, match="cannot load 'tiny'"):
            await server.warm("Be brief.")


def test_the_server_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    arguments = (llama_files(tmp_path).server, tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *arguments], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        process = llama_process(tmp_path)

        parent.send_signal(signal.SIGKILL)

        assert psutil.wait_procs([process], timeout=STOP_SECONDS)[1] == []


GOOD = Machine("Linux", "x86_64", (2, 35), CPU_FLAGS | {"sse2"}, has_openmp=True)


def test_a_current_linux_machine_runs_the_models() -> None:
    assert unsupported_reason(lambda: GOOD) is None


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        pytest.param(
            replace(GOOD, system="Darwin"), "The demo models need Linux on x86-64", id="mac"
        ),
        pytest.param(
            replace(GOOD, processor="aarch64"), "The demo models need Linux on x86-64", id="arm"
        ),
        pytest.param(replace(GOOD, glibc=(2, 31)), "glibc 2.35", id="old-glibc"),
        pytest.param(replace(GOOD, glibc=()), "glibc 2.35", id="musl"),
        pytest.param(replace(GOOD, cpu_flags=frozenset()), "AVX2", id="old-processor"),
        pytest.param(replace(GOOD, has_openmp=False), "Install the package libgomp1", id="slim"),
    ],
)
def test_an_unsupported_machine_gets_an_alternative(machine: Machine, reason: str) -> None:
    sentence = unsupported_reason(lambda: machine) or ""

    assert reason in sentence
    assert "Ollama" in sentence


def test_this_machine_can_be_inspected() -> None:
    assert inspect_machine().system


def test_free_memory_is_what_the_system_says(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  8000 kB\nMemAvailable:    6000 kB\n")

    assert free_bytes(meminfo) == 6_000 * 1_024
    assert free_bytes(tmp_path / "none") == 0
