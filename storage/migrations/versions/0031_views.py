"""Views for analysts: see storage.views, which every migration creates again."""

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Do nothing: the views are created after the last migration."""


def downgrade() -> None:
    """Do nothing: the views were dropped before the first migration."""
