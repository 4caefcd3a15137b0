"""Files of questions, and the sources of answers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.add_column("round", sa.Column("files", json, nullable=False, server_default="[]"))
    for table in ("answer", "late_reply"):
        op.add_column(table, sa.Column("sources", json, nullable=False, server_default="[]"))
    op.add_column("answer", sa.Column("missed", json, nullable=False, server_default="[]"))


def downgrade() -> None:
    with op.batch_alter_table("answer") as batch:
        batch.drop_column("missed")
        batch.drop_column("sources")
    for table, column in (("late_reply", "sources"), ("round", "files")):
        with op.batch_alter_table(table) as batch:
            batch.drop_column(column)
