"""The chain of closed rounds: a link for each, in the order they close."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "link",
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("previous", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("parts", JSON, nullable=False),
        sa.PrimaryKeyConstraint("scope", "number"),
    )
    with op.batch_alter_table("link") as link:
        link.create_index(link.f("ix_link_round_id"), ["round_id"])


def downgrade() -> None:
    op.drop_table("link")
    # Before, only a forgotten round had them.
    op.execute("UPDATE round SET salt = '', digests = '[]' WHERE forgotten_at IS NULL")
