"""What people decided on disputed points, and what a chairman wrote then."""

import sqlalchemy as sa
from alembic import op

from storage.tables import Json, UtcDateTime

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "decision",
        sa.Column("prompt_system", sa.String(), nullable=True),
        sa.Column("prompt_user", sa.String(), nullable=True),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("chairman", sa.String(), nullable=True),
        sa.Column("fallback", sa.String(), nullable=True),
        sa.Column("drawn_on", Json(), nullable=False),
        sa.Column("departs", sa.Boolean(), nullable=False),
        sa.Column("why", sa.String(), nullable=True),
        sa.Column("reply", sa.String(), nullable=True),
        sa.Column("cut", sa.Boolean(), nullable=True),
        sa.Column("tokens_in", sa.Integer(), nullable=True),
        sa.Column("tokens_out", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=True),
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("choices", Json(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "number"),
    )


def downgrade() -> None:
    op.drop_table("decision")
