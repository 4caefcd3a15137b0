"""Run `council serve` as a process and collect its lines on stderr."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import httpx

from tests.bot.homes import TIMEOUT_SECONDS, Home, scripted_config


@dataclass(slots=True)
class RunningServer:
    """A running server and every line that it has written so far."""

    process: asyncio.subprocess.Process
    lines: list[str] = field(default_factory=list)

    async def says(self, words: str) -> str:
        """Wait for a line with these words, and return it."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not (found := [line for line in self.lines if words in line]):
                assert self.process.returncode is None, self.lines
                await asyncio.sleep(0.01)
        return found[0]

    def of(self, chat: str) -> list[str]:
        """Return the lines about a chat."""
        return [line for line in self.lines if line.startswith(f"{chat}: ")]

    async def page_is_up(self) -> bool:
        """Return whether the page answers its health check."""
        address = (await self.says("The page: ")).split()[-1]
        async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as browser:
            return (await browser.get(f"{address}/healthz")).status_code == 200


@asynccontextmanager
async def serving(home: Home, *, fresh: bool = False) -> AsyncIterator[RunningServer]:
    """Serve until the block ends, in a forked process or in a fresh one."""
    process = await home.started("serve", fresh=fresh)
    run = RunningServer(process)
    reading = asyncio.create_task(read_into(run.lines, process))
    try:
        yield run
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
        await reading


@asynccontextmanager
async def running_server(home: Home, secrets: Collection[str]) -> AsyncIterator[RunningServer]:
    """Serve until the block ends, then check the exit code and that no secret was written."""
    home = home.with_config(scripted_config(4)).with_tables().with_settings(COUNCIL_PORT="0")
    async with serving(home) as run:
        yield run
        assert run.process.returncode is None, run.lines
    assert run.process.stdout
    output = "".join(run.lines) + (await run.process.stdout.read()).decode()
    assert await run.process.wait() == 0
    assert not any(secret in output for secret in (*secrets, "Traceback"))


async def read_into(lines: list[str], process: asyncio.subprocess.Process) -> None:
    """Append the lines that a process writes on stderr, until it ends."""
    assert process.stderr
    # One by one, because tests read the list meanwhile.
    async for line in process.stderr:
        lines.append(line.decode().rstrip())  # noqa: PERF401


async def holds_for(holds: Callable[[], object], seconds: float) -> bool:
    """Return whether a condition holds for that long."""
    for _ in range(int(seconds * 100)):
        if not holds():
            return False
        await asyncio.sleep(0.01)
    return True
