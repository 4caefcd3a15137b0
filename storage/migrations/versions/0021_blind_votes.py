"""People's ballots: whether they were blind, and any ranking of the other answers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0021"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    blind = sa.Column("blind", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("human_vote", blind)
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    ranking = sa.Column("ranking", json, nullable=False, server_default="[]")
    op.add_column("human_vote", ranking)


def downgrade() -> None:
    with op.batch_alter_table("human_vote") as votes:
        votes.drop_column("ranking")
        votes.drop_column("blind")
