from pathlib import Path

import psutil
import pytest

from council.errors import GatewayError
from council.gateways.local.download import LocalFiles
from council.gateways.local.server import LocalServer


def files_with(script: str, folder: Path) -> LocalFiles:
    server = folder / "llama-server"
    server.write_text(f"#!/bin/sh\n{script}\n")
    server.chmod(0o755)
    return LocalFiles(server, {"tiny": folder / "tiny.gguf"})


async def test_a_server_that_stops_gives_the_last_line_of_its_log(tmp_path: Path) -> None:
    files = files_with("echo loading; echo no such thing >&2; exit 1", tmp_path)

    with pytest.raises(GatewayError, match=r"stopped as it started; .* 'no such thing'"):
        await LocalServer(files, tmp_path).__aenter__()


async def test_a_server_that_never_answers_is_stopped_at_its_deadline(tmp_path: Path) -> None:
    files = files_with(f"echo $$ >{tmp_path}/pid; exec sleep 60", tmp_path)

    with pytest.raises(GatewayError, match="did not start in time"):
        await LocalServer(files, tmp_path, start_seconds=0.3).__aenter__()

    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


async def test_a_server_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path / "gone", {})

    with pytest.raises(GatewayError, match="cannot be started here"):
        await LocalServer(files, tmp_path).__aenter__()


async def test_the_settings_name_every_model(tmp_path: Path) -> None:
    with pytest.raises(GatewayError):
        await LocalServer(files_with("exit 1", tmp_path), tmp_path).__aenter__()

    settings = (tmp_path / "models.ini").read_text()
    assert settings.startswith("[*]\nc = 4096\nt = 2\nnp = 1\n")
    assert settings.endswith(f"[tiny]\nmodel = {tmp_path}/tiny.gguf\n")


async def test_every_server_has_a_key_of_its_own(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path, {})

    assert LocalServer(files, tmp_path).api_key != LocalServer(files, tmp_path).api_key


async def test_the_environment_of_the_machine_does_not_reach_the_server(tmp_path: Path) -> None:
    files = files_with("env | sort | cut -d= -f1 | tr '\\n' ' '", tmp_path)

    with pytest.raises(GatewayError, match=r"'HOME LLAMA_API_KEY OMP_WAIT_POLICY PWD ?[_ ]*'"):
        await LocalServer(files, tmp_path).__aenter__()
