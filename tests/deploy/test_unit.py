"""The systemd unit: hardened, understood by systemd, and its commands run and stop in time."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.runners.local import GRACE_SECONDS
from tests.bot.homes import Home, scripted_config, wait_for_exit
from tests.deploy.running import answering, start, stop
from tests.deploy.unit import UNIT, moved, setting, settings, variables
from tests.ports import free_port

HARDENED = {
    "DynamicUser": "yes",
    "NoNewPrivileges": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "CapabilityBoundingSet": "",
    "SystemCallFilter": "@system-service",
}
BINARIES = "/opt/council/bin"


def test_the_unit_restarts_and_has_time_to_stop() -> None:
    assert (setting("Restart"), setting("KillSignal")) == ("always", "SIGTERM")
    assert int(setting("TimeoutStopSec")) > GRACE_SECONDS
    assert setting("StateDirectory") == "council"


def test_the_unit_is_hardened() -> None:
    assert {name: setting(name) for name in HARDENED} == HARDENED


def test_the_secrets_are_in_a_separate_file() -> None:
    assert setting("EnvironmentFile").startswith("/etc/council/")
    assert [value for value in settings()["Environment"] if "TOKEN" in value] == []


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not on this machine")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    # It looks whether programs are there.
    copy = tmp_path / UNIT.name
    own = UNIT.read_text(encoding="utf-8").replace(BINARIES, str(Path(sys.executable).parent))
    copy.write_text(own, encoding="utf-8")

    looked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(copy)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (looked.returncode, looked.stderr) == (0, "")


async def test_the_commands_of_the_unit_run_and_stop_in_time(tmp_path: Path) -> None:
    port, state = free_port(), tmp_path / "state" / "council"
    state.mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    Home(tmp_path / "etc").with_config(scripted_config())
    specifiers = {
        "%S": str(tmp_path / "state"),
        "%C": str(tmp_path / "cache"),
        "/etc/council": str(tmp_path / "etc"),
    }
    # What the environment file brings; the machine's own settings do not reach it.
    environment = {
        "PATH": "/usr/bin:/bin",
        "COUNCIL_PORT": str(port),
        "OLLAMA_API_BASE": "http://127.0.0.1:9",
        **variables(specifiers),
    }
    before, serve = (words_of(name) for name in ("ExecStartPre", "ExecStart"))
    folder = Path(moved(setting("WorkingDirectory"), specifiers))

    upgraded = await wait_for_exit(await start(before, folder, environment))
    async with answering(serve, folder, environment, port) as process:
        result, seconds = await stop(process)

    assert (upgraded.code, result.code) == (0, 0), upgraded.err + result.err
    assert seconds < int(setting("TimeoutStopSec"))
    assert (state / "council.db").exists()


def words_of(name: str) -> list[str]:
    return setting(name).replace(BINARIES, str(Path(sys.executable).parent)).split()
