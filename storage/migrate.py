"""Schema migrations: check the revision of the database and upgrade it with Alembic."""

from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError
from storage.engine import check_encoding, read_only_engine, schema_transaction
from storage.transactions import translate_errors

HEAD_REVISION = "0031"  # the newest revision in storage/migrations/versions
# Programs that know this revision or a later one may work on the newest schema: they ignore what
# was added since.
OLDEST_COMPATIBLE = "0012"


async def upgrade(engine: AsyncEngine) -> str | None:
    """Upgrade the schema; return the revision it had, or None for a new database.

    Leave a newer schema alone if it is compatible with this program; otherwise raise StoreError.
    """
    with translate_errors():
        revision = before = await current_revision(engine)
        if before is None or before < HEAD_REVISION:
            async with schema_transaction(engine) as connection:
                await check_encoding(connection)
                await connection.run_sync(_run_alembic)
            revision = await current_revision(engine)
        if revision is not None and revision > HEAD_REVISION:
            await _check_compatible(engine, revision)
    return before


async def current_revision(engine: AsyncEngine) -> str | None:
    """Return the schema's revision; None if there are no tables yet."""
    # A schema that was downgraded to nothing has the table, but no row.
    return await _fetch_text(engine, "alembic_version", "SELECT version_num FROM alembic_version")


async def _check_compatible(engine: AsyncEngine, revision: str) -> None:
    """Raise StoreError unless the newer schema allows this program."""
    oldest = await _fetch_text(engine, "compatible", "SELECT oldest FROM compatible")
    if oldest is None or oldest > HEAD_REVISION:
        raise StoreError(
            f"This database belongs to a newer version of the program (schema {revision}; this "
            f"one knows {HEAD_REVISION}). Install the newer version, or restore an older backup."
        )


async def _fetch_text(engine: AsyncEngine, table: str, query: str) -> str | None:
    """Return the one value of a query; None without a row or without the table."""
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

    revision = MigrationContext.configure(connection).get_current_revision()
    if (
        revision is not None and revision > HEAD_REVISION
    ):  # a newer program has upgraded it meanwhile
        return
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    connection.execute(text("DELETE FROM compatible"))
    note = text("INSERT INTO compatible (id, oldest) VALUES (1, :oldest)")
    connection.execute(note, {"oldest": OLDEST_COMPATIBLE})
