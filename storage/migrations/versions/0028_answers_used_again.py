"""The model that answered, as its provider calls it, and the round an answer was taken from."""

import sqlalchemy as sa
from alembic import op

from storage.tables import Json

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("answer", sa.Column("model", sa.String(), nullable=False, server_default=""))
    op.add_column("answer", sa.Column("origin", Json(), nullable=True))


def downgrade() -> None:
    op.drop_column("answer", "origin")
    op.drop_column("answer", "model")
