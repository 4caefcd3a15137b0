"""A fork server: it imports the product once, then forks a process for each start of it.

This module is also the server's script. A forked process becomes a child of the test's process,
which adopts orphans while it asks for one, and so is awaited and killed like any other child.
Linux only.
"""

import asyncio
import atexit
import ctypes
import gc
import json
import os
import pkgutil
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

CAN_FORK = sys.platform == "linux"
PROGRAM = ("-P", __file__)  # without its own folder on the path
START_SECONDS = 120
FORK_SECONDS = 30
MAX_REQUEST_BYTES = 150_000
READY = b"ready"
_PR_SET_CHILD_SUBREAPER = 36

# The client, in the process of the tests.


class ForkServer:
    """A running server; every failure of it raises a RuntimeError with what it wrote on stderr."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._errors = TemporaryFile()  # noqa: SIM115 - open as long as the server
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, *PROGRAM, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env={"PATH": os.environ["PATH"]},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                process_group=0,
            )
        self._receive(START_SECONDS)

    def fork(
        self,
        arguments: Sequence[str | bytes],
        folder: Path,
        environment: Mapping[str, str],
        streams: Sequence[int],
        module: str = "bot",
    ) -> "ForkedProcess":
        """Start the program with these arguments; `streams` become its stdin, stdout and stderr."""
        request = {
            "module": module,
            "arguments": [os.fsdecode(argument) for argument in arguments],
            "folder": str(folder),
            "environment": dict(environment),
        }
        message = json.dumps(request).encode()
        if len(message) > MAX_REQUEST_BYTES:
            raise ValueError("Too long for the fork server: start a fresh process.")
        with self._lock, _adopting_orphans():
            try:
                socket.send_fds(self._socket, [message], list(streams))
            except OSError as error:
                raise self._failure() from error
            return ForkedProcess(int(self._receive(FORK_SECONDS)))

    @property
    def pid(self) -> int:
        """The server's own process id."""
        return self._process.pid

    def close(self) -> None:
        """End the server; the processes that it has forked go on."""
        self._socket.close()
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def _receive(self, timeout_seconds: float) -> bytes:
        self._socket.settimeout(timeout_seconds)
        try:
            reply = self._socket.recv(100)
        except OSError as error:
            raise self._failure() from error
        if not reply:
            raise self._failure()
        return reply

    def _failure(self) -> RuntimeError:
        self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        error = RuntimeError(f"The fork server failed: {self._errors.read().decode()}")
        self.close()
        return error


@cache
def fork_server() -> ForkServer:
    """Return this process's server, started at the first call; it ends with this process."""
    server = ForkServer()
    atexit.register(server.close)
    return server


@contextmanager
def _adopting_orphans() -> Iterator[None]:
    """Become the parent of each process below this one whose own parent ends."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "This process cannot adopt orphans.")
    try:
        yield
    finally:
        prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


class ForkedProcess:
    """A forked process, with what the tests use of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and return the exit code; raise subprocess.TimeoutExpired."""
        if self.poll() is None:
            ended = os.pidfd_open(self.pid)
            try:
                select.select([ended], [], [], timeout)
            finally:
                os.close(ended)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


def run(
    arguments: Sequence[str | bytes],
    folder: Path,
    environment: Mapping[str, str],
    stdin: bytes,
    timeout_seconds: float,
) -> tuple[int, bytes, bytes]:
    """Run the program to its end; return its exit code, its stdout and its stderr."""
    with ExitStack() as stack:
        out, err = (stack.enter_context(TemporaryFile()) for _ in range(2))
        read, write = os.pipe()
        try:
            streams = (read, out.fileno(), err.fileno())
            process = fork_server().fork(arguments, folder, environment, streams)
        finally:
            os.close(read)
            with open(write, "wb") as pipe:  # noqa: PTH123 - a descriptor has no path
                pipe.write(stdin)
        try:
            code = process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


class AsyncForkedProcess(asyncio.subprocess.Process):
    """A forked process of a running event loop: no stdin, and pipes from stdout and stderr."""

    stdin: None
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader

    def __init__(
        self, process: ForkedProcess, stdout: asyncio.StreamReader, stderr: asyncio.StreamReader
    ) -> None:
        loop = asyncio.get_running_loop()
        self.pid, self.stdin, self.stdout, self.stderr = process.pid, None, stdout, stderr
        self._process = process
        self._code = loop.create_future()
        ended = os.pidfd_open(process.pid)

        def note_end() -> None:
            loop.remove_reader(ended)
            os.close(ended)
            self._code.set_result(process.wait())

        loop.add_reader(ended, note_end)

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._code.result() if self._code.done() else None

    async def wait(self) -> int:
        """Wait for the end, and return the exit code."""
        return await asyncio.shield(self._code)

    async def communicate(
        self,
        input: bytes | bytearray | memoryview | None = None,  # noqa: A002
    ) -> tuple[bytes, bytes]:
        """Wait for the end, and return the rest of stdout and stderr."""
        assert input is None
        out, err, _ = await asyncio.gather(self.stdout.read(), self.stderr.read(), self.wait())
        return out, err

    def send_signal(self, signal: int) -> None:
        """Send a signal; raise ProcessLookupError if the process has ended."""
        if self.returncode is not None:
            raise ProcessLookupError
        self._process.send_signal(signal)

    def terminate(self) -> None:
        """Send SIGTERM; raise ProcessLookupError if the process has ended."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL; raise ProcessLookupError if the process has ended."""
        self.send_signal(signal.SIGKILL)


async def start(
    arguments: Sequence[str | bytes], folder: Path, environment: Mapping[str, str]
) -> AsyncForkedProcess:
    """Start the program without waiting for its end."""
    server = await asyncio.to_thread(fork_server)
    with Path(os.devnull).open("rb") as nothing:  # noqa: ASYNC230 - it does not block
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        try:
            process = server.fork(
                arguments, folder, environment, (nothing.fileno(), out_end, err_end)
            )
        finally:
            os.close(out_end)
            os.close(err_end)
    return AsyncForkedProcess(process, await _reader(out), await _reader(err))


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    pipe = open(descriptor, "rb", buffering=0)  # noqa: SIM115, ASYNC230 - its transport closes it
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    return reader


# The server, in a process of its own. It starts no thread and reads no setting.


def import_product() -> None:
    """Import every module of the product, and litellm as `council serve` does."""
    gc.disable()
    for package in ("bot", "storage", "council"):
        for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            # The first run by themselves; Alembic alone can load the others.
            if not found.name.endswith("__main__") and ".migrations." not in found.name:
                import_module(found.name)
    os.environ |= import_module("bot.settings.environment").OFFLINE_SWITCHES
    import_module("council.gateways.litellm.client").load_warm()
    gc.collect()
    gc.freeze()  # a collection in a forked process would copy everything
    gc.enable()


def check_forkable(connection: socket.socket) -> None:
    """Raise RuntimeError if the imports have left threads or files that a fork would break."""
    links = (link for link in Path("/proc/self/fd").iterdir() if link.exists())
    files = {int(link.name) for link in links} - {0, 1, 2, connection.fileno()}
    if threading.active_count() > 1 or files:
        raise RuntimeError(f"Imports have left {threading.enumerate()} and files {files}.")


def next_forked_process(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Fork a process for each request; return in the forked process alone.

    A process in between ends at once, so that the test's process adopts the forked one.
    """
    while True:
        message, streams, _, _ = socket.recv_fds(connection, MAX_REQUEST_BYTES, 3)
        if not message:
            os._exit(0)
        read, write = os.pipe()
        between = os.fork()
        if not between:
            forked = os.fork()
            if not forked:
                return json.loads(message), streams
            os.write(write, str(forked).encode())
            os._exit(0)
        os.waitpid(between, 0)
        connection.send(os.read(read, 100))
        for descriptor in (read, write, *streams):
            os.close(descriptor)


def become(request: dict[str, Any], streams: list[int]) -> None:
    """Make this process what a fresh one would be."""
    os.setpgid(0, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    os.chdir(request["folder"])
    interpreters_own = {name: os.environ[name] for name in ("LC_CTYPE",) if name in os.environ}
    os.environ.clear()
    os.environ.update(interpreters_own | request["environment"])
    time.tzset()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()  # `random` has a new seed after each fork
    sys.path.insert(0, request["folder"])
    sys.argv = ["council", *request["arguments"]]


def main() -> None:
    """Import the product, serve requests, and run the program in each forked process."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    import_product()
    check_forkable(connection)
    connection.send(READY)
    request, streams = next_forked_process(connection)
    connection.detach()
    become(request, streams)
    runpy.run_module(request["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
