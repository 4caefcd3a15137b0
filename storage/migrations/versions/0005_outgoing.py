"""Messages that were sent, and rounds that were stopped on purpose."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "outgoing",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("message", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key"),
    )
    with op.batch_alter_table("outgoing") as outgoing:
        outgoing.create_index(outgoing.f("ix_outgoing_round_id"), ["round_id"])
    with op.batch_alter_table("round") as round_:
        round_.add_column(
            sa.Column("paused", sa.Boolean(), nullable=False, server_default=sa.false())
        )


def downgrade() -> None:
    with op.batch_alter_table("round") as round_:
        round_.drop_column("paused")
    op.drop_table("outgoing")
