"""What the person who asks has set for the answers, as a program's system message."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "round", sa.Column("instructions", sa.String(), nullable=False, server_default="")
    )


def downgrade() -> None:
    op.drop_column("round", "instructions")
