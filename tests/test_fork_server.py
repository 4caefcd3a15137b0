"""The fork server: a forked process is like a fresh one, and a broken server fails at once."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import fork_server
from tests.bot.homes import TIMEOUT_SECONDS, Home, scripted_config
from tests.fork_server import ForkedProcess, ForkServer

pytestmark = pytest.mark.skipif(not fork_server.CAN_FORK, reason="the server forks on Linux only")

# A module that tells about its process.
LOOK = """
import gc, json, locale, logging, os, random, signal, sys, threading, time
import numpy.random
signals = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
print(json.dumps({
    "arguments": sys.argv,
    "folder": os.getcwd(),
    "environment": dict(os.environ),
    "path": sys.path,
    "input": sys.stdin.read(),
    "files": os.listdir("/proc/self/fd"),
    "signals": {int(number): repr(signal.getsignal(number)) for number in signals},
    "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "logging": [repr(logging.root.handlers), logging.root.level],
    "threads": threading.active_count(),
    "collector": [gc.isenabled(), *gc.get_threshold()],
    "streams": [repr(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
    "buffered": [sys.stdout.line_buffering, sys.stderr.line_buffering],
    "zone": time.tzname,
    "mask": os.umask(0),
    "main": __name__,
}))
print([random.random(), numpy.random.random()], file=sys.stderr)
sys.exit(7)
"""
SLEEP = "import time; print('up', flush=True); time.sleep(600)"
INPUT = b"said\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "look.py").write_text(LOOK)
    (tmp_path / "sleeper.py").write_text(SLEEP)
    return Home(tmp_path, {"TZ": "Pacific/Auckland", "OPENAI_API_KEY": "of this test"})


@pytest.fixture
def broken() -> Iterator[ForkServer]:
    server = ForkServer()
    yield server
    server.close()


def fork(home: Home, module: str, output: Path, server: ForkServer | None = None) -> ForkedProcess:
    """Start a module in a forked process: its stdout in a file, its stderr in another."""
    read, write = os.pipe()
    os.write(write, INPUT)
    os.close(write)
    with output.open("wb") as out, output.with_suffix(".err").open("wb") as err:
        streams = (read, out.fileno(), err.fileno())
        try:
            return (server or fork_server.fork_server()).fork(
                ("one", "two words"), home.folder, home.environment, streams, module
            )
        finally:
            os.close(read)


def look_fresh(home: Home) -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, "-m", "look", "one", "two words"],
        cwd=home.folder,
        env=home.environment,
        input=INPUT,
        capture_output=True,
        check=False,
    )
    document: dict[str, Any] = json.loads(ended.stdout)
    return document


def test_a_forked_process_is_like_a_fresh_one(home: Home) -> None:
    output = home.folder / "out"

    code = fork(home, "look", output).wait(TIMEOUT_SECONDS)

    assert (code, json.loads(output.read_text())) == (7, look_fresh(home))


def test_each_forked_process_has_random_numbers_of_its_own(home: Home) -> None:
    outputs = [home.folder / name for name in ("out", "other")]

    for output in outputs:
        fork(home, "look", output).wait(TIMEOUT_SECONDS)

    first, second = (json.loads(one.with_suffix(".err").read_text()) for one in outputs)
    assert not {*first} & {*second}


def test_a_process_that_runs_too_long_can_be_killed(home: Home) -> None:
    process = fork(home, "sleeper", home.folder / "out")

    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    is_running = process.poll() is None
    process.kill()

    assert (is_running, process.wait(TIMEOUT_SECONDS)) == (True, -signal.SIGKILL)


async def test_a_process_of_an_event_loop_is_read_stopped_and_awaited(home: Home) -> None:
    served = home.with_config(scripted_config()).with_settings(COUNCIL_PORT="0")
    process = await served.started("serve")
    assert process.stderr

    async with asyncio.timeout(TIMEOUT_SECONDS):
        while b"The page: " not in (line := await process.stderr.readline()):
            assert line
        is_running = process.returncode is None
        process.terminate()
        out, err = await process.communicate()

    assert (is_running, process.returncode, out) == (True, 0, b"")
    assert b"Traceback" not in err
    with pytest.raises(ProcessLookupError):
        process.kill()


def test_a_server_that_died_fails_the_tests_that_need_it(home: Home, broken: ForkServer) -> None:
    os.kill(broken.pid, signal.SIGKILL)

    with pytest.raises(RuntimeError, match="The fork server failed"):
        fork(home, "look", home.folder / "out", broken)


def test_a_server_that_cannot_import_the_product_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "PROGRAM", ("-c", "import no_such_module"))

    with pytest.raises(RuntimeError, match="No module named 'no_such_module'"):
        ForkServer()
