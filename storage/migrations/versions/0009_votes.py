"""Who ranked whom how in each closed round, for the measuring of bias."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "votes",
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("asked_micro", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["source_id"], ["source.id"]),
        sa.PrimaryKeyConstraint("round_id"),
    )
    with op.batch_alter_table("votes") as votes:
        votes.create_index("ix_votes_asked_micro_round_id", ["asked_micro", "round_id"])
        votes.create_index(votes.f("ix_votes_source_id"), ["source_id"])


def downgrade() -> None:
    op.drop_table("votes")
    # What only votes came from has no row left that names it.
    op.execute("DELETE FROM source WHERE id NOT IN (SELECT source_id FROM record)")
