"""A process that runs one round for each line on its stdin, and says so when it is done."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, cast

ROUND_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Program:
    """A command line and the folder it runs in, which is its home."""

    words: list[str]
    home: Path

    @classmethod
    def isolated(cls, words: list[str], env: dict[str, str], home: Path) -> Self:
        """Return a program that sees these variables and none of the caller's."""
        variables = {"HOME": str(home), "PATH": "/usr/bin:/bin", **env}
        return cls(["env", "-i", *(f"{name}={v}" for name, v in variables.items()), *words], home)


class Worker:
    """One running process; `round_` returns when it has finished a round."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        # Both are pipes: `worker` opened them.
        self._stdin = cast(asyncio.StreamWriter, process.stdin)
        self._stdout = cast(asyncio.StreamReader, process.stdout)
        self._log = log

    async def round_(self, question: str) -> None:
        """Put the question and wait until the round is over."""
        self._stdin.write(f"{question}\n".encode())
        async with asyncio.timeout(ROUND_SECONDS):
            said = await self._stdout.readline()
        if said != b"done\n":
            raise RuntimeError(f"the round failed:\n{self._log.read_text()[-2000:]}")


@asynccontextmanager
async def worker(program: Program) -> AsyncIterator[Worker]:
    """Start a worker, and end it afterwards."""
    log = program.home / "stderr.log"
    with log.open("w") as errors:
        process = await asyncio.create_subprocess_exec(
            *program.words,
            cwd=program.home,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
    try:
        yield Worker(process, log)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
