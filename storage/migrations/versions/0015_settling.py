"""What was added to the ledger lately, so that it is added once."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "settled",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    with op.batch_alter_table("settled") as settled:
        settled.create_index(settled.f("ix_settled_at"), ["at"])


def downgrade() -> None:
    op.drop_table("settled")
