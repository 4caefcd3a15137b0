"""What rounds have reserved and spent."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "spending",
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("asker", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("schedule", sa.String(), nullable=False),
        sa.Column("reserved_micro", sa.BigInteger(), nullable=False),
        sa.Column("spent_micro", sa.BigInteger(), nullable=False),
        sa.Column("unknown_calls", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("round_id", "day"),
    )
    op.create_index("ix_spending_day", "spending", ["day"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_spending_day", "spending")
    op.drop_table("spending")
