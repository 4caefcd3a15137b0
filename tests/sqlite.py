"""A new SQLite file with today's tables: the migrations make one, and it is copied."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from storage.engine import open_engine
from storage.migrate import upgrade


def address(folder: Path) -> str:
    """Give the address of a database of a folder's own, whether there is one or not."""
    return f"sqlite+aiosqlite:///{folder / 'council.db'}"


def new_file(folder: Path) -> str:
    """Write a database with today's tables and nothing in them; give its address."""
    (folder / "council.db").write_bytes(_migrated())
    return address(folder)


@cache
def _migrated() -> bytes:
    # A loop that runs already is not disturbed.
    with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _migrate(address(Path(folder)))).result()
        return (Path(folder) / "council.db").read_bytes()


async def _migrate(url: str) -> None:
    engine = open_engine(url)
    await upgrade(engine)
    await engine.dispose()
