"""The rounds that a round quotes, and what was erased of it because one of them was forgotten."""

import sqlalchemy as sa
from alembic import op

from storage.tables import Json

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

COLUMNS = ("quotes", "redacted")


def upgrade() -> None:
    for name in COLUMNS:
        op.add_column("round", sa.Column(name, Json(), nullable=True))


def downgrade() -> None:
    for name in reversed(COLUMNS):
        op.drop_column("round", name)
