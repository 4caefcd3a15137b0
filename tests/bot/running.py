"""`council serve` as whoever started it sees it: a process, and the lines that it says."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import httpx

from tests.bot.homes import PATIENCE_SECONDS, Home, scripted_panel


@dataclass(slots=True)
class Running:
    """A running product and every line it has written so far."""

    process: asyncio.subprocess.Process
    lines: list[str] = field(default_factory=list)

    async def says(self, words: str) -> str:
        """Wait for a line with these words, and give it."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (found := [line for line in self.lines if words in line]):
                assert self.process.returncode is None, self.lines
                await asyncio.sleep(0.01)
        return found[0]

    def of(self, chat: str) -> list[str]:
        """Give the lines that tell how a chat stands."""
        return [line for line in self.lines if line.startswith(f"{chat}: ")]

    async def page_is_up(self) -> bool:
        """Ask the page whether it is well."""
        address = (await self.says("The page: ")).split()[-1]
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as browser:
            return (await browser.get(f"{address}/healthz")).status_code == 200


@asynccontextmanager
async def running(home: Home, secrets: Collection[str]) -> AsyncIterator[Running]:
    """Serve until the block ends, then stop it; no secret may be in what was said by then."""
    home = home.with_config(scripted_panel(4)).with_tables().with_settings(COUNCIL_PORT="0")
    process = await home.started("serve")
    run = Running(process)
    reading = asyncio.create_task(read_into(run.lines, process))
    try:
        yield run
        assert process.returncode is None, run.lines
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        code = await process.wait()
        await reading
    assert process.stdout
    said = "".join(run.lines) + (await process.stdout.read()).decode()
    assert code == 0
    assert not any(secret in said for secret in (*secrets, "Traceback"))


async def read_into(lines: list[str], process: asyncio.subprocess.Process) -> None:
    """Keep what a process says on stderr, until it ends."""
    assert process.stderr
    # Line by line: whoever waits for one looks at the list meanwhile.
    async for line in process.stderr:
        lines.append(line.decode().rstrip())  # noqa: PERF401


async def still(holds: Callable[[], object], seconds: float) -> bool:
    """Look for a while whether something stays so."""
    for _ in range(int(seconds * 100)):
        if not holds():
            return False
        await asyncio.sleep(0.01)
    return True
