"""A new, migrated SQLite file for a test, copied from one that the migrations made."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from storage.engine import open_engine
from storage.migrate import upgrade


def address(folder: Path) -> str:
    """Return the URL of the database in a folder, which need not exist."""
    return f"sqlite+aiosqlite:///{folder / 'council.db'}"


def new_file(folder: Path) -> str:
    """Write an empty, migrated database; return its URL."""
    (folder / "council.db").write_bytes(_migrated())
    return address(folder)


@cache
def _migrated() -> bytes:
    # In a thread, because the caller may be running an event loop.
    with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _migrate(address(Path(folder)))).result()
        return (Path(folder) / "council.db").read_bytes()


async def _migrate(url: str) -> None:
    engine = open_engine(url)
    await upgrade(engine)
    await engine.dispose()
