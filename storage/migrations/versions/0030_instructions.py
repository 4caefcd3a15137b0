"""What the person who asks has set for the answers: instructions, and the schema of JSON."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("instructions", "answer_schema"):
        op.add_column("round", sa.Column(name, sa.String(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("round", "answer_schema")
    op.drop_column("round", "instructions")
