"""What deleted text leaves in SQLite's files, and its end.

`secure_delete` overwrites a deleted row, but not the copies that rows leave behind when they move
between pages, so the file is rewritten whole; the log is emptied because it holds pages as they
were. Any other database tidies up by itself.
"""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError

KEPT_OPEN = (
    "The texts are forgotten, but another program is reading the database, so its log still holds "
    "them: let that end, and do the same again."
)


async def wipe(engine: AsyncEngine) -> None:
    """Rewrite the database file and empty its log; StoreError while another program reads it."""
    if engine.dialect.name != "sqlite":
        return
    async with engine.connect() as connection:
        # Neither can run in a transaction, so they go past SQLAlchemy, which begins one.
        driver: Any = (await connection.get_raw_connection()).driver_connection
        await (await driver.execute("VACUUM")).close()
        cursor = await driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        busy, *_ = await cursor.fetchone()
        await cursor.close()
    if busy:
        raise StoreError(KEPT_OPEN)
