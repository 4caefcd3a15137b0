"""Turns at providers, rounds that were just let in, and who claimed a message."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "turn",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("gate", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("turn") as turn:
        turn.create_index(turn.f("ix_turn_gate"), ["gate"])
    op.create_table(
        "admitted",
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("round_id"),
    )
    with op.batch_alter_table("admitted") as admitted:
        admitted.create_index(admitted.f("ix_admitted_name"), ["name"])
    with op.batch_alter_table("outgoing") as outgoing:
        outgoing.add_column(sa.Column("claimed_by", sa.String(), nullable=False, server_default=""))
    with op.batch_alter_table("outgoing") as outgoing:
        outgoing.create_index(
            "ix_outgoing_unmarked",
            ["claimed_at"],
            sqlite_where=sa.text("message IS NULL"),
            postgresql_where=sa.text("message IS NULL"),
        )


def downgrade() -> None:
    with op.batch_alter_table("outgoing") as outgoing:
        outgoing.drop_index("ix_outgoing_unmarked")
        outgoing.drop_column("claimed_by")
    op.drop_table("admitted")
    op.drop_table("turn")
