"""Run the commands of a deployment, with their own environment."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx

from tests.bot.homes import TIMEOUT_SECONDS, Result, wait_for_exit

ROOT = Path(__file__).parents[2]
Environment = Mapping[str, str]


async def start(
    words: Sequence[str], folder: Path, environment: Environment
) -> asyncio.subprocess.Process:
    """Start a command in a folder."""
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *words,
        cwd=folder,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
    )


@asynccontextmanager
async def answering(
    words: Sequence[str], folder: Path, environment: Environment, port: int
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a server, wait until it answers, and kill it at the end of the block."""
    process = await start(words, folder, environment)
    try:
        client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=10, trust_env=False)
        async with asyncio.timeout(TIMEOUT_SECONDS), client:
            while not await _answers(client):
                assert process.returncode is None, await wait_for_exit(process)
                await asyncio.sleep(0.05)
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()  # also closes its pipes


async def stop(process: asyncio.subprocess.Process) -> tuple[Result, float]:
    """Send SIGTERM; return the result, and after how many seconds the process ended."""
    process.send_signal(signal.SIGTERM)
    sent = time.monotonic()
    result = await wait_for_exit(process)
    return result, time.monotonic() - sent


async def _answers(client: httpx.AsyncClient) -> bool:
    with suppress(httpx.TransportError):
        return (await client.get("/healthz")).status_code == 200
    return False
