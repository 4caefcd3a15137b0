"""Where a round was asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("round") as round_:
        for name in ("chat", "workspace", "channel"):
            round_.add_column(sa.Column(name, sa.String(), nullable=False, server_default=""))
        round_.add_column(sa.Column("thread", sa.String(), nullable=True))
        round_.add_column(
            sa.Column("private", sa.Boolean(), nullable=False, server_default=sa.false())
        )


def downgrade() -> None:
    with op.batch_alter_table("round") as round_:
        for name in ("private", "thread", "channel", "workspace", "chat"):
            round_.drop_column(name)
