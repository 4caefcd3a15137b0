"""The schema's version: look at it cheaply, bring it up with Alembic."""

from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError
from storage.engine import check_encoding, read_only_engine, schema_transaction
from storage.transactions import translate_errors

HEAD = "0015"  # the newest revision in storage/migrations/versions
# Programs that know this revision, or a later one, may work on the newest: what was added since
# is left alone by those that do not know it.
OLDEST_COMPATIBLE = "0012"


async def upgrade(engine: AsyncEngine) -> str | None:
    """Bring the schema up to date; give the revision it had, or None for a new database.

    One that a newer program has changed is left as it is where that program let older ones go on.
    Raises StoreError where it did not.
    """
    with translate_errors():
        found = before = await current_revision(engine)
        if before is None or before < HEAD:
            async with schema_transaction(engine) as connection:
                await check_encoding(connection)
                await connection.run_sync(_run_alembic)
            found = await current_revision(engine)
        if found is not None and found > HEAD:
            await _check_compatible(engine, found)
    return before


async def current_revision(engine: AsyncEngine) -> str | None:
    """Give the schema's revision; None where there are no tables yet."""
    # A schema taken down to nothing leaves no row.
    return await _fetch_text(engine, "alembic_version", "SELECT version_num FROM alembic_version")


async def _check_compatible(engine: AsyncEngine, found: str) -> None:
    """Raise StoreError unless whoever changed the schema lets this program go on."""
    oldest = await _fetch_text(engine, "compatible", "SELECT oldest FROM compatible")
    if oldest is None or oldest > HEAD:
        raise StoreError(
            f"This database belongs to a newer version of the program (schema {found}, this "
            f"one knows {HEAD}): install the newer version, or restore an older backup."
        )


async def _fetch_text(engine: AsyncEngine, table: str, query: str) -> str | None:
    """Give the one text that a table holds; None without a row, and without the table."""
    try:
        async with read_only_engine(engine).connect() as connection:
            return (await connection.execute(text(query))).scalar_one_or_none()
    except DBAPIError as error:
        # SQLite and Postgres name a missing table differently.
        if table in str(error.orig):
            return None
        raise


def _run_alembic(connection: Connection) -> None:
    # Alembic takes a while to import, and most starts find the schema up to date.
    from alembic import command
    from alembic.config import Config
    from alembic.migration import MigrationContext

    found = MigrationContext.configure(connection).get_current_revision()
    if found is not None and found > HEAD:  # a newer program came first, while this one waited
        return
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    connection.execute(text("DELETE FROM compatible"))
    note = text("INSERT INTO compatible (id, oldest) VALUES (1, :oldest)")
    connection.execute(note, {"oldest": OLDEST_COMPATIBLE})
