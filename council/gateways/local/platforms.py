"""Which machines the demonstration server runs on."""

import ctypes
import platform
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

GLIBC = (2, 35)
CPU_FLAGS = frozenset({"avx2", "bmi2", "f16c", "fma"})
ELSEWHERE = (
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
    machine = (look or this_machine)()
    if (machine.system, machine.processor) != ("Linux", "x86_64"):
        return f"The demonstration models run on Linux on x86-64 only; here, {ELSEWHERE}"
    if machine.glibc < GLIBC:
        return f"The demonstration models need glibc 2.35 or newer; here, {ELSEWHERE}"
    if not machine.cpu_flags >= CPU_FLAGS:
        return f"The demonstration models need a processor with AVX2; here, {ELSEWHERE}"
    if not machine.has_openmp:
        return (
            f"The demonstration models need libgomp: install the package libgomp1, or {ELSEWHERE}"
        )
    return None


def this_machine() -> Machine:
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
