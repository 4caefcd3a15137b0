"""Rounds that reached their place, and what people think of rounds."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("round") as round_:
        round_.add_column(
            sa.Column("delivered", sa.Boolean(), nullable=False, server_default=sa.false())
        )
    op.create_table(
        "feedback",
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("helpful", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "by"),
    )


def downgrade() -> None:
    op.drop_table("feedback")
    with op.batch_alter_table("round") as round_:
        round_.drop_column("delivered")
