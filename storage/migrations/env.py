"""Alembic environment: run migrations on the given connection, or on an empty database."""

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import String, create_engine
from sqlmodel.sql.sqltypes import AutoString

from storage.tables import Json, RoundRow, UtcDateTime
from storage.views import create_views, drop_views


def render_item(kind: str, item: Any, _: AutogenContext) -> str | Literal[False]:  # noqa: ANN401
    """Render our column types so that a migration does not import the current tables."""
    if kind != "type":
        return False
    if isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if isinstance(item, Json):
        return 'sa.JSON().with_variant(JSONB(), "postgresql")'
    return "sa.String()" if isinstance(item, AutoString | String) else False


def is_ours(name: str | None, kind: str, _: object) -> bool:
    """Return False for the tables of the job queue, which has its own migrations."""
    return kind != "table" or not (name or "").startswith("procrastinate_")


def run() -> None:
    """Run the migrations."""
    connection = context.config.attributes.get("connection")
    if connection is None:
        connection = create_engine(context.config.get_main_option("sqlalchemy.url", "")).connect()
    context.configure(
        connection=connection,
        target_metadata=RoundRow.metadata,
        render_item=render_item,
        render_as_batch=True,
        compare_type=True,
        include_name=is_ours,
    )
    with context.begin_transaction():
        # A table cannot be changed while a view reads it.
        drop_views(connection)
        context.run_migrations()
        if context.get_context().get_current_revision() == context.get_head_revision():
            create_views(connection)


run()
