"""Exchanges of methods and graders, grades of ballots, wording of slates."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "exchange",
        sa.Column("prompt_system", sa.String(), nullable=True),
        sa.Column("prompt_user", sa.String(), nullable=True),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("cut", sa.Boolean(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=True),
        sa.Column("tokens_out", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("seat", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("scores", JSON, nullable=False),
        sa.Column("fault", sa.String(), nullable=False),
        sa.Column("nonce", sa.String(), nullable=False),
        sa.Column("sources", JSON, nullable=False, server_default="[]"),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "kind", "seat", "subject", "attempt"),
    )
    op.add_column("slate", sa.Column("wording", sa.String(), nullable=False, server_default=""))
    op.add_column("ballot", sa.Column("grades", JSON, nullable=False, server_default="[]"))


def downgrade() -> None:
    op.drop_column("ballot", "grades")
    op.drop_column("slate", "wording")
    op.drop_table("exchange")
