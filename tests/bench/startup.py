"""Start-up: processor time and seconds of commands, next to those of `python -c pass`.

python -m tests.bench.startup [RUNS]

Of each command the least of a few runs counts: other programs of the machine only add to it. What
MCP takes is measured up to its first list of tools. The target is for an idle machine.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from tests.bot.homes import Home, scripted_config

RUNS = 5
COUNCIL = str(Path(sys.executable).with_name("council"))
BASELINE = "python -c pass"
COMMANDS = {
    BASELINE: (sys.executable, "-c", "pass"),
    "import council": (sys.executable, "-c", "from council import ask, rank"),
    "council --help": (COUNCIL, "--help"),
    "council rounds": (COUNCIL, "rounds"),
    "council rounds --json": (COUNCIL, "rounds", "--json"),
    "council ask, scripted": (COUNCIL, "ask", "Why is the sky blue?"),
    "council ask --json, scripted": (COUNCIL, "ask", "Why is the sky blue?", "--json"),
}
MCP = "council mcp, to its first tools"
TARGET_SECONDS = {
    "import council": 0.2,
    "council --help": 0.15,
    "council ask, scripted": 1.5,
    MCP: 1.5,
}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
MESSAGES = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)

Measured = tuple[float, float]  # seconds of processor time, seconds


def run(home: Home, words: Sequence[str]) -> Measured:
    """Run a command to its end."""
    before, began = ended_children_seconds(), time.perf_counter()
    with started(home, words) as process:
        process.communicate()
    seconds = time.perf_counter() - began
    assert process.returncode == 0, words
    return ended_children_seconds() - before, seconds


def ended_children_seconds() -> float:
    """Return the processor time of this process's children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_mcp(home: Home) -> Measured:
    """Run the server until it has listed its tools."""
    began = time.perf_counter()
    with started(home, (COUNCIL, "mcp")) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("".join(f"{json.dumps(one)}\n" for one in MESSAGES).encode())
        process.stdin.flush()
        while json.loads(process.stdout.readline()).get("id") != 2:
            pass
        times = psutil.Process(process.pid).cpu_times()
        seconds = time.perf_counter() - began
        process.stdin.close()
        process.stdout.read()
    return times.user + times.system, seconds


def started(home: Home, words: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a command in a home."""
    return subprocess.Popen(
        words,
        cwd=home.folder,
        env=home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def least(measure: Callable[[], Measured], runs: int) -> Measured:
    """Return the least of a few runs, of the processor time and of the seconds."""
    measured = [measure() for _ in range(runs)]
    return min(cpu for cpu, _ in measured), min(seconds for _, seconds in measured)


def main() -> None:
    """Print a line for each command."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with TemporaryDirectory() as folder:
        home = Home(Path(folder)).with_config(scripted_config(3)).with_tables()
        found = {name: least(partial(run, home, words), runs) for name, words in COMMANDS.items()}
        found[MCP] = least(partial(run_mcp, home), runs)
    base = found[BASELINE][0]
    print(f"{'':34}{'processor':>10}{'× pass':>8}{'seconds':>9}{'target':>8}")
    for name, (cpu, seconds) in found.items():
        target = f"{TARGET_SECONDS[name]:.2f}" if name in TARGET_SECONDS else ""
        print(f"{name:34}{cpu:10.2f}{cpu / base:8.0f}{seconds:9.2f}{target:>8}")


if __name__ == "__main__":
    main()
