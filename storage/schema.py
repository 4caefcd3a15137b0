"""The schema's version: look at it cheaply, bring it up with Alembic."""

from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError
from storage.database import for_reading, rebuilding
from storage.faults import told_kindly

HEAD = "0015"  # the newest revision in storage/migrations/versions


async def upgrade(engine: AsyncEngine) -> str | None:
    """Bring the schema up to date; give the revision it had, or None for a new database.

    Raises StoreError for a database that a newer program has changed.
    """
    with told_kindly():
        before = await revision(engine)
        if before is not None and before > HEAD:
            raise StoreError(
                f"This database belongs to a newer version of the program (schema {before}, this "
                f"one knows {HEAD}): install the newer version, or restore an older backup."
            )
        if before != HEAD:
            async with rebuilding(engine) as connection:
                await connection.run_sync(_run)
    return before


async def revision(engine: AsyncEngine) -> str | None:
    """Give the schema's revision; None where there are no tables yet."""
    try:
        async with for_reading(engine).connect() as connection:
            found = await connection.execute(text("SELECT version_num FROM alembic_version"))
            return found.scalar_one_or_none()  # a schema taken down to nothing leaves no row
    except DBAPIError as error:
        # SQLite and Postgres name a missing table differently.
        if "alembic_version" in str(error.orig):
            return None
        raise


def _run(connection: Connection) -> None:
    # Alembic takes a while to import, and most starts find the schema up to date.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
