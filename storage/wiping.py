"""What deleted text leaves in SQLite's files, and its end.

`secure_delete` overwrites a deleted row, but not the copies that rows leave behind when they move
between pages, so the file is rewritten whole; the log is emptied because it holds pages as they
were. That it is still to be done is kept in the file itself (`user_version`), so that it is made
up for after a crash. Any other database tidies up by itself.
"""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from council.errors import StoreError

EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"  # answers 1 where a reader keeps it from that
KEPT_OPEN = (
    "The texts are forgotten, but another program is reading the database, so its log still holds "
    "them: let that end, and do the same again."
)


async def owe(connection: AsyncConnection) -> None:
    """Take note, within the transaction that deletes, that the files are to be wiped."""
    if connection.dialect.name == "sqlite":
        await connection.exec_driver_sql("PRAGMA user_version = 1")


async def wipe(engine: AsyncEngine) -> None:
    """Rewrite the file and empty its log where that is owed; StoreError while others read it."""
    if engine.dialect.name != "sqlite":
        return
    async with engine.connect() as connection:
        # None of this can run in a transaction, so it goes past SQLAlchemy, which begins one.
        driver: Any = (await connection.get_raw_connection()).driver_connection
        if not await _first(driver, "PRAGMA user_version"):
            return
        await _first(driver, "VACUUM")
        if await _first(driver, EMPTY_LOG):
            raise StoreError(KEPT_OPEN)
        await _first(driver, "PRAGMA user_version = 0")


async def _first(driver: Any, statement: str) -> int:  # noqa: ANN401
    """Give the first number that a statement answers with; 0 where it answers nothing."""
    cursor = await driver.execute(statement)
    found = await cursor.fetchone()
    await cursor.close()
    return int(found[0]) if found else 0
