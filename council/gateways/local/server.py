"""The llama-server process that serves the demo models on loopback."""

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
from typing import TYPE_CHECKING, Self

from council.errors import GatewayError

if TYPE_CHECKING:
    from council.gateways.local.download import LocalFiles

CONTEXT_TOKENS = 4096
# No "version = 1": this build would list it as a model named "default".
PRESETS_HEADER = f"[*]\nc = {CONTEXT_TOKENS}\nt = 2\nnp = 1\n"
FLAGS = ("--models-max", "3", "--device", "none", "--host", "127.0.0.1", "--offline", "--no-ui")
POLL_SECONDS = 0.05
STOP_SECONDS = 3.0  # it would wait for a running generation
WARM_SECONDS = 120.0
PR_SET_PDEATHSIG = 1
GLIBC = (2, 35)
CPU_FLAGS = frozenset({"avx2", "bmi2", "f16c", "fma"})
ALTERNATIVE = (
    "run Ollama, or set api_base in council.toml to the address of an OpenAI-compatible server."
)


class LocalServer:
    """An async context manager that serves the local models; raise GatewayError if it cannot.

    The server listens on a free port of loopback with a random key, and writes its log to `folder`.
    Requests should stream, so that a cancel frees the model at once, and send `Connection: close`,
    because the server drops reused connections.
    """

    def __init__(self, files: "LocalFiles", folder: Path, *, start_seconds: float = 30.0) -> None:
        self._files = files
        self._folder = folder
        self._start_seconds = start_seconds
        self._port = 0
        self._process: Process | None = None
        self.api_key = secrets.token_hex(24)

    @property
    def api_base(self) -> str:
        """The OpenAI-compatible address; the port is known once the server runs."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def log(self) -> Path:
        """The server's log file, emptied at each start."""
        return self._folder / "llama-server.log"

    async def __aenter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        presets = self._folder / "models.ini"
        models = self._files.weights.items()
        entries = (f"\n[{model}]\nmodel = {path.absolute()}\n" for model, path in models)
        presets.write_text(PRESETS_HEADER + "".join(entries), encoding="utf-8")
        self._process = await self._start(presets)
        try:
            async with asyncio.timeout(self._start_seconds):
                await self._wait_until_ready(self._process)
        except BaseException as error:
            await self._stop(self._process)
            if isinstance(error, TimeoutError):
                raise GatewayError(self._error_message("did not start in time")) from error
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._process is not None:
            await self._stop(self._process)

    async def warm(self, system_prompt: str) -> None:
        """Load the models and read a system prompt, so that the first round does not have to."""
        import httpx  # slow to import

        url, user = f"{self.api_base}/chat/completions", {"role": "user", "content": "Hi"}
        messages = [{"role": "system", "content": system_prompt}, user]
        headers = {"Authorization": f"Bearer {self.api_key}", "Connection": "close"}
        async with httpx.AsyncClient(
            timeout=WARM_SECONDS, trust_env=False, headers=headers
        ) as client:
            for model in self._files.weights:
                body = {"model": model, "messages": messages, "max_tokens": 1}
                try:
                    (await client.post(url, json=body)).raise_for_status()
                except httpx.HTTPError as error:
                    raise GatewayError(self._error_message(f"cannot load {model!r}")) from error

    async def _start(self, presets: Path) -> Process:
        # A clean environment: the key is in no process list, and no variable of the machine
        # (LLAMA_ARG_…) changes the server. Passive waiting, because spinning starves other models.
        environment = {
            "HOME": str(self._folder),
            "LLAMA_API_KEY": self.api_key,
            "OMP_WAIT_POLICY": "passive",
        }
        with self.log.open("wb") as log:
            try:
                return await asyncio.create_subprocess_exec(
                    self._files.server,
                    "--models-preset",
                    presets,
                    "--port",
                    str(self._port),
                    *FLAGS,
                    stdin=DEVNULL,
                    stdout=log,
                    stderr=STDOUT,
                    env=environment,
                    # Ctrl-C in a terminal is for the bot, which stops the server at its end.
                    start_new_session=True,
                    preexec_fn=exit_with_parent(),
                )
            except OSError as error:
                raise GatewayError("The local model server can't be started here.") from error

    async def _wait_until_ready(self, process: Process) -> None:
        import httpx

        async with httpx.AsyncClient(timeout=1.0, trust_env=False) as client:
            while process.returncode is None:
                with suppress(httpx.HTTPError):
                    if (await client.get(f"{self.api_base}/models")).is_success:
                        return
                await asyncio.sleep(POLL_SECONDS)
        raise GatewayError(self._error_message("stopped during start-up"))

    async def _stop(self, process: Process) -> None:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            # The whole group: the models would exit only a moment later.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    def _error_message(self, what: str) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
        return f"The local model server {what}. The last line of its log: {last[-300:]!r}."


def exit_with_parent() -> Callable[[], None]:
    """Return a `preexec_fn` that ties a child to the starting thread, the event loop's."""
    parent = os.getpid()
    # Looked up here, because nothing should be imported between fork and exec.
    prctl = ctypes.CDLL(None).prctl

    def set_death_signal() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # The parent may have died before the call.
        if os.getppid() != parent:
            os._exit(1)

    return set_death_signal


@dataclass(frozen=True, slots=True)
class Machine:
    """The properties of a machine that the server requires; `glibc` is () for another C library."""

    system: str
    processor: str
    glibc: tuple[int, ...]
    cpu_flags: frozenset[str]
    has_openmp: bool


def unsupported_reason(inspect: Callable[[], Machine] | None = None) -> str | None:
    """Return None if the demonstration server runs here, else a sentence that says what to do."""
    machine = (inspect or inspect_machine)()
    if (machine.system, machine.processor) != ("Linux", "x86_64"):
        return f"The demo models need Linux on x86-64. Here, {ALTERNATIVE}"
    if machine.glibc < GLIBC:
        return f"The demo models need glibc 2.35 or newer. Here, {ALTERNATIVE}"
    if not machine.cpu_flags >= CPU_FLAGS:
        return f"The demo models need a processor with AVX2. Here, {ALTERNATIVE}"
    if not machine.has_openmp:
        return f"The demo models need libgomp. Install the package libgomp1, or {ALTERNATIVE}"
    return None


def free_bytes(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Return how much memory new programs can use; 0 if that is unknown."""
    text = meminfo.read_text(encoding="ascii", errors="replace") if meminfo.is_file() else ""
    found = re.search(r"^MemAvailable:\s*(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def inspect_machine() -> Machine:
    """Return the properties of this machine."""
    library, version = platform.libc_ver()
    cpu_info, has_openmp = Path("/proc/cpuinfo"), False
    text = cpu_info.read_text(encoding="utf-8", errors="replace") if cpu_info.is_file() else ""
    flags = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    with suppress(OSError):
        ctypes.CDLL("libgomp.so.1")
        has_openmp = True
    return Machine(
        system=platform.system(),
        processor=platform.machine(),
        glibc=tuple(map(int, re.findall(r"\d+", version))) if library == "glibc" else (),
        cpu_flags=frozenset(flags[1].split() if flags else ()),
        has_openmp=has_openmp,
    )
