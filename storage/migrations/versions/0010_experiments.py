"""Experiments, with their answers and the marks given to them."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "experiment",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("suite_scope", sa.String(), nullable=False),
        sa.Column("suite_version", sa.String(), nullable=False),
        sa.Column("panel", JSON, nullable=False),
        sa.Column("asked_by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("cap_micro", sa.BigInteger(), nullable=True),
        sa.Column("versions", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("experiment") as experiment:
        experiment.create_index(experiment.f("ix_experiment_at"), ["at"])
    op.create_table(
        "experiment_answer",
        *_of_experiment(),
        sa.Column("member", sa.String(), nullable=False),
        sa.Column("reply", JSON, nullable=False),
        sa.PrimaryKeyConstraint("experiment_id", "number", "member"),
    )
    op.create_table(
        "experiment_mark",
        *_of_experiment(),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("framing", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("raw", sa.Integer(), nullable=True),
        sa.Column("fault", sa.String(), nullable=False),
        sa.Column("reply", JSON, nullable=False),
        sa.PrimaryKeyConstraint("experiment_id", "number", "author", "framing", "judge", "attempt"),
    )


def _of_experiment() -> tuple[Any, ...]:
    return (
        sa.Column("experiment_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiment.id"], ondelete="CASCADE"),
    )


def downgrade() -> None:
    for table in ("experiment_mark", "experiment_answer", "experiment"):
        op.drop_table(table)
