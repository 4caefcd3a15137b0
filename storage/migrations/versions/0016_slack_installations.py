"""The Slack workspaces and organisations that installed the app, with encrypted tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    names = ("name", "bot_user_id", "bot_id", "scopes", "bot_token", "bot_refresh_token")
    op.create_table(
        "slack_installation",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("enterprise_id", sa.String(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in names),
        sa.Column("bot_token_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("installed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("slack_installation") as installation:
        installation.create_index(
            installation.f("ix_slack_installation_enterprise_id"), ["enterprise_id"]
        )


def downgrade() -> None:
    op.drop_table("slack_installation")
