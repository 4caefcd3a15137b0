"""What a question read of its thread, and the people in it."""

import sqlalchemy as sa
from alembic import op

from storage.tables import Json

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("round", sa.Column("reading", Json(), nullable=True))


def downgrade() -> None:
    op.drop_column("round", "reading")
