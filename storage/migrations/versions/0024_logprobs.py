"""The log-probabilities of numbers in replies."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

TABLES = ("answer", "late_reply", "exchange", "ballot", "spoiled_ballot")


def upgrade() -> None:
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    for table in TABLES:
        op.add_column(table, sa.Column("logprobs", json, nullable=False, server_default="[]"))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "logprobs")
