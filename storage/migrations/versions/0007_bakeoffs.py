"""Suites, bake-offs, schedules, and the numbers of closed rounds."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)
CLOSED = sa.text("seconds IS NOT NULL AND forgotten_at IS NULL")
# What Postgres calls it; on SQLite it has no name, and is found by this pattern.
NAMES = {"fk": "%(table_name)s_%(column_0_name)s_fkey"}
OF_ROUND = "outgoing_round_id_fkey"


def upgrade() -> None:
    _add_to_rounds()
    with op.batch_alter_table("outgoing", naming_convention=NAMES) as outgoing:
        outgoing.drop_constraint(OF_ROUND, type_="foreignkey")
    _create_suites()
    _create_bakeoffs()
    _create_schedules()
    _create_records()


def _add_to_rounds() -> None:
    with op.batch_alter_table("round") as round_:
        for name in ("reference", "bakeoff"):
            round_.add_column(sa.Column(name, sa.String(), nullable=False, server_default=""))
    with op.batch_alter_table("round") as round_:
        round_.create_index("ix_round_bakeoff_asked_at", ["bakeoff", "asked_at"])
        round_.create_index(
            "ix_round_countable", ["asked_at", "id"], sqlite_where=CLOSED, postgresql_where=CLOSED
        )


def _create_suites() -> None:
    op.create_table(
        "suite",
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("nth", sa.Integer(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("graded", sa.Integer(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("kept_at", MOMENT, nullable=False),
        sa.Column("removed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "name", "version"),
    )
    op.create_table(
        "suite_body",
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("body", JSON, nullable=False),
        sa.PrimaryKeyConstraint("version"),
    )


def _place() -> list[sa.Column[Any]]:
    return [
        sa.Column("chat", sa.String(), nullable=False),
        sa.Column("workspace", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("thread", sa.String(), nullable=True),
        sa.Column("private", sa.Boolean(), nullable=False),
    ]


def _create_bakeoffs() -> None:
    op.create_table(
        "bakeoff",
        *_place(),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("suite_scope", sa.String(), nullable=False),
        sa.Column("suite_version", sa.String(), nullable=False),
        sa.Column("panel_name", sa.String(), nullable=False),
        sa.Column("panel", JSON, nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("asked_by", sa.String(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("cap_micro", sa.BigInteger(), nullable=True),
        sa.Column("schedule", sa.String(), nullable=False),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.Column("failure", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("bakeoff") as bakeoff:
        bakeoff.create_index(bakeoff.f("ix_bakeoff_at"), ["at"])
        bakeoff.create_index(bakeoff.f("ix_bakeoff_schedule"), ["schedule"])


def _create_schedules() -> None:
    op.create_table(
        "schedule",
        *_place(),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("panel", sa.String(), nullable=False),
        sa.Column("cron", sa.String(), nullable=False),
        sa.Column("zone", sa.String(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("made_by", sa.String(), nullable=False),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("cap_micro", sa.BigInteger(), nullable=True),
        sa.Column("last_slot", sa.String(), nullable=False),
        sa.Column("subscribers", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("scope", "name", name="uq_schedule_scope_name"),
    )


def _create_records() -> None:
    common = ("panel", "scope", "bakeoff", "suite", "suite_version", "category", "shape")
    op.create_table(
        "source",
        sa.Column("id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in common),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint(*common, name="uq_source"),
    )
    op.create_table(
        "record",
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("asked_micro", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["source_id"], ["source.id"]),
        sa.PrimaryKeyConstraint("round_id"),
    )
    with op.batch_alter_table("record") as record:
        record.create_index("ix_record_asked_micro_round_id", ["asked_micro", "round_id"])
        record.create_index(record.f("ix_record_source_id"), ["source_id"])


def downgrade() -> None:
    for table in ("record", "source", "schedule", "bakeoff", "suite_body", "suite"):
        op.drop_table(table)
    # What was sent of bake-offs has no place there.
    op.execute("DELETE FROM outgoing WHERE round_id NOT IN (SELECT id FROM round)")
    with op.batch_alter_table("outgoing", naming_convention=NAMES) as outgoing:
        outgoing.create_foreign_key(OF_ROUND, "round", ["round_id"], ["id"], ondelete="CASCADE")
    with op.batch_alter_table("round") as round_:
        round_.drop_index("ix_round_countable")
        round_.drop_index("ix_round_bakeoff_asked_at")
    with op.batch_alter_table("round") as round_:
        round_.drop_column("bakeoff")
        round_.drop_column("reference")
