"""People's ballots: whether they were blind, and any ranking of the other answers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.add_column(
        "human_vote",
        sa.Column[bool]("blind", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.add_column("human_vote", sa.Column("ranking", json, nullable=False, server_default="[]"))


def downgrade() -> None:
    with op.batch_alter_table("human_vote") as votes:
        votes.drop_column("ranking")
        votes.drop_column("blind")
