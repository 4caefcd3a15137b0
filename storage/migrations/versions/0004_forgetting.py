"""When a round's texts were removed, and digests of them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("round") as round_:
        round_.add_column(sa.Column("forgotten_at", sa.DateTime(timezone=True), nullable=True))
        round_.add_column(sa.Column("salt", sa.String(), nullable=False, server_default=""))
        round_.add_column(
            sa.Column(
                "digests",
                sa.JSON().with_variant(JSONB(), "postgresql"),
                nullable=False,
                server_default="[]",
            )
        )


def downgrade() -> None:
    with op.batch_alter_table("round") as round_:
        for name in ("digests", "salt", "forgotten_at"):
            round_.drop_column(name)
