"""Where a ballot put the round's canary."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("ballot", sa.Column("canary", sa.String(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("ballot", "canary")
