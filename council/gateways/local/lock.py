"""A lock on a file, held by one process at a time, so that nothing is fetched twice at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

POLL_SECONDS = 0.1


@asynccontextmanager
async def held(path: Path) -> AsyncIterator[None]:
    """Wait for the lock and hold it; the system lets go of it when the process dies."""
    # Windows has no fcntl, and must still be able to import this package.
    import fcntl

    with path.open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                await asyncio.sleep(POLL_SECONDS)
            else:
                break
        yield
