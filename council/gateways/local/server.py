"""A child process that cannot outlive the one that started it (Linux)."""

import asyncio
import ctypes
import os
import platform
import re
import secrets
import signal
import socket
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import httpx

from council.errors import GatewayError
from council.gateways.local.download import LocalFiles

# --- A child process that cannot outlive the one that started it (Linux).

PR_SET_PDEATHSIG = 1


def exit_with_parent() -> Callable[[], None]:
    """Give what a child runs before its program: from then on it dies with the starting thread.

    The kernel watches the thread, so start the child from one that lives on: the event loop's.
    """
    parent = os.getpid()
    # Looked up here: between fork and exec nothing should be imported.
    prctl = ctypes.CDLL(None).prctl

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # The parent may have died before the kernel was asked.
        if os.getppid() != parent:
            os._exit(1)

    return tie


# --- llama-server as a router on loopback: one port, one random key, every local model behind it.

CONTEXT_TOKENS = 4096
# No "version = 1": this build lists it as a model called "default".
SETTINGS = f"[*]\nc = {CONTEXT_TOKENS}\nt = 2\nnp = 1\n"
FLAGS = ("--models-max", "3", "--device", "none", "--host", "127.0.0.1", "--offline", "--no-ui")
POLL_SECONDS = 0.05
STOP_SECONDS = 3.0  # it waits for a running generation as long as it is let
WARM_SECONDS = 120.0


class LocalServer:
    """The local models, served while the context lasts; GatewayError when they cannot be.

    `folder` gets the server's settings and its log. Requests should stream (a cancelled one then
    frees the model at once) and send `Connection: close` (kept connections get dropped).
    """

    def __init__(self, files: LocalFiles, folder: Path, *, start_seconds: float = 30.0) -> None:
        self._files = files
        self._folder = folder
        self._start_seconds = start_seconds
        self._port = 0
        self._process: Process | None = None
        self.api_key = secrets.token_hex(24)

    @property
    def api_base(self) -> str:
        """Give the OpenAI-compatible address; the port is known once the server runs."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def models(self) -> tuple[str, ...]:
        """Give the names the models are served under."""
        return tuple(self._files.weights)

    @property
    def log(self) -> Path:
        """Give the file the server writes to; it starts empty each time."""
        return self._folder / "llama-server.log"

    async def __aenter__(self) -> Self:
        """Start the server and wait until it answers."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._port = _free_port()
        presets = self._folder / "models.ini"
        presets.write_text(_presets(self._files), encoding="utf-8")
        self._process = await self._start(presets)
        try:
            async with asyncio.timeout(self._start_seconds):
                await self._answering(self._process)
        except BaseException as error:
            await self._stop(self._process)
            if isinstance(error, TimeoutError):
                raise GatewayError(self._sentence("did not start in time")) from error
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the server and wait until it and its models are gone."""
        if self._process is not None:
            await self._stop(self._process)

    async def warm(self, models: tuple[str, ...] | None = None) -> None:
        """Load the models, so that the first round does not pay for it."""
        async with httpx.AsyncClient(timeout=WARM_SECONDS, trust_env=False) as client:
            for model in models or self.models:
                await self._warm(client, model)

    async def _warm(self, client: httpx.AsyncClient, model: str) -> None:
        headers = {"Authorization": f"Bearer {self.api_key}", "Connection": "close"}
        messages = [{"role": "user", "content": "Hi"}]
        body = {"model": model, "messages": messages, "max_tokens": 1}
        url = f"{self.api_base}/chat/completions"
        try:
            response = await client.post(url, headers=headers, json=body)
            response.raise_for_status()
        except httpx.HTTPError as error:
            raise GatewayError(self._sentence(f"cannot load {model!r}")) from error

    async def _start(self, presets: Path) -> Process:
        # Its own environment: the key shows in no process list, and nothing set on the machine
        # (LLAMA_ARG_…) changes the server. Waiting threads that spin starve the other models.
        environment = {
            "HOME": str(self._folder),
            "LLAMA_API_KEY": self.api_key,
            "OMP_WAIT_POLICY": "passive",
        }
        with _emptied(self.log) as log:
            try:
                return await asyncio.create_subprocess_exec(
                    self._files.server,
                    *("--models-preset", presets, "--port", str(self._port), *FLAGS),
                    stdin=DEVNULL,
                    stdout=log,
                    stderr=STDOUT,
                    env=environment,
                    # Ctrl-C in a terminal is for the bot, which stops the server last.
                    start_new_session=True,
                    preexec_fn=exit_with_parent(),
                )
            except OSError as error:
                raise GatewayError("The local model server cannot be started here.") from error

    async def _answering(self, process: Process) -> None:
        async with httpx.AsyncClient(timeout=1.0, trust_env=False) as client:
            while process.returncode is None:
                with suppress(httpx.HTTPError):
                    if (await client.get(f"{self.api_base}/models")).is_success:
                        return
                await asyncio.sleep(POLL_SECONDS)
        raise GatewayError(self._sentence("stopped as it started"))

    async def _stop(self, process: Process) -> None:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            # Its models are in its group, and would notice only a moment later.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    def _sentence(self, what: str) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
        return f"The local model server {what}; the last line of its log is {last[-300:]!r}."


def _presets(files: LocalFiles) -> str:
    entries = (f"\n[{model}]\nmodel = {path.absolute()}\n" for model, path in files.weights.items())
    return SETTINGS + "".join(entries)


def _emptied(path: Path) -> IO[bytes]:
    return path.open("wb")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# --- Which machines the demonstration server runs on.

GLIBC = (2, 35)
CPU_FLAGS = frozenset({"avx2", "bmi2", "f16c", "fma"})
ALTERNATIVE = (
    "run Ollama, or give the address of any OpenAI-compatible server as api_base in council.toml."
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What the server asks of a machine; `glibc` is () where there is another C library."""

    system: str
    processor: str
    glibc: tuple[int, ...]
    cpu_flags: frozenset[str]
    has_openmp: bool


def supported(look: Callable[[], Machine] | None = None) -> str | None:
    """Give None where the demonstration server runs, else one sentence naming what to do."""
    machine = (look or inspect_machine)()
    if (machine.system, machine.processor) != ("Linux", "x86_64"):
        return f"The demonstration models run on Linux on x86-64 only; here, {ALTERNATIVE}"
    if machine.glibc < GLIBC:
        return f"The demonstration models need glibc 2.35 or newer; here, {ALTERNATIVE}"
    if not machine.cpu_flags >= CPU_FLAGS:
        return f"The demonstration models need a processor with AVX2; here, {ALTERNATIVE}"
    if not machine.has_openmp:
        return (
            f"The demonstration models need libgomp: install the package libgomp1, or {ALTERNATIVE}"
        )
    return None


def inspect_machine() -> Machine:
    """Look at the machine this runs on."""
    library, version = platform.libc_ver()
    return Machine(
        system=platform.system(),
        processor=platform.machine(),
        glibc=tuple(map(int, re.findall(r"\d+", version))) if library == "glibc" else (),
        cpu_flags=_cpu_flags(Path("/proc/cpuinfo")),
        has_openmp=_loads("libgomp.so.1"),
    )


def _cpu_flags(path: Path) -> frozenset[str]:
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    flags = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    return frozenset(flags[1].split()) if flags else frozenset()


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
