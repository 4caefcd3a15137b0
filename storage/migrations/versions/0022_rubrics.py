"""The rubric by which judges grade the answers to a question."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("round", sa.Column("rubric", sa.String(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("round", "rubric")
