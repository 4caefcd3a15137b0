"""Rounds and all they hold."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "round",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("asked_by", sa.String(), nullable=False),
        sa.Column("context", sa.String(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("panel_name", sa.String(), nullable=False),
        sa.Column("panel", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("seed", sa.String(), nullable=False),
        sa.Column("versions", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("failure", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("round", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_round_asked_at"), ["asked_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_round_panel_name"), ["panel_name"], unique=False)

    op.create_table(
        "absence",
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("member", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "member", "role"),
    )
    op.create_table(
        "answer",
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("cut", sa.Boolean(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=True),
        sa.Column("tokens_out", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("prompt_system", sa.String(), nullable=True),
        sa.Column("prompt_user", sa.String(), nullable=True),
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("member", sa.String(), nullable=False),
        sa.Column("scrubbed", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("suspicions", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "member"),
    )
    op.create_table(
        "ballot",
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("cut", sa.Boolean(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=True),
        sa.Column("tokens_out", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("prompt_system", sa.String(), nullable=True),
        sa.Column("prompt_user", sa.String(), nullable=True),
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("audit", sa.String(), nullable=False),
        sa.Column("shown", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("ranking", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("nonce", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("cut_to", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "judge", "audit"),
    )
    op.create_table(
        "label",
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("member", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "position"),
    )
    op.create_table(
        "slate",
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("shown", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "judge"),
    )
    op.create_table(
        "spoiled_ballot",
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("cut", sa.Boolean(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=True),
        sa.Column("tokens_out", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("prompt_system", sa.String(), nullable=True),
        sa.Column("prompt_user", sa.String(), nullable=True),
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("fault", sa.String(), nullable=False),
        sa.Column("nonce", sa.String(), nullable=False),
        sa.Column("cut_to", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "judge", "attempt"),
    )
    op.create_table(
        "standing",
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("share", sa.Float(), nullable=True),
        sa.Column("points", sa.Float(), nullable=False),
        sa.Column("max_points", sa.Integer(), nullable=False),
        sa.Column("first_votes", sa.Integer(), nullable=False),
        sa.Column("mean_rank", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id", "label"),
    )
    op.create_table(
        "synthesis",
        sa.Column("prompt_system", sa.String(), nullable=True),
        sa.Column("prompt_user", sa.String(), nullable=True),
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("chairman", sa.String(), nullable=True),
        sa.Column("fallback", sa.String(), nullable=True),
        sa.Column("drawn_on", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("departs", sa.Boolean(), nullable=False),
        sa.Column("why", sa.String(), nullable=True),
        sa.Column("reply", sa.String(), nullable=True),
        sa.Column("cut", sa.Boolean(), nullable=True),
        sa.Column("tokens_in", sa.Integer(), nullable=True),
        sa.Column("tokens_out", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id"),
    )
    op.create_table(
        "verdict",
        sa.Column("round_id", sa.String(), nullable=False),
        sa.Column("strength", sa.String(), nullable=False),
        sa.Column("p", sa.Float(), nullable=True),
        sa.Column("first_on", sa.Integer(), nullable=False),
        sa.Column("first_of", sa.Integer(), nullable=False),
        sa.Column("too_few_judges", sa.Boolean(), nullable=False),
        sa.Column("tau_b", sa.Float(), nullable=True),
        sa.Column("kendall_w", sa.Float(), nullable=True),
        sa.Column("alpha", sa.Float(), nullable=True),
        sa.Column("n_eff", sa.Float(), nullable=True),
        sa.Column("flags", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("round_id"),
    )


def downgrade() -> None:
    op.drop_table("verdict")
    op.drop_table("synthesis")
    op.drop_table("standing")
    op.drop_table("spoiled_ballot")
    op.drop_table("slate")
    op.drop_table("label")
    op.drop_table("ballot")
    op.drop_table("answer")
    op.drop_table("absence")
    with op.batch_alter_table("round", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_round_panel_name"))
        batch_op.drop_index(batch_op.f("ix_round_asked_at"))

    op.drop_table("round")
