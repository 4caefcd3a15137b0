"""Several late rankings of one judge: the pass is a part of their key."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

TABLE = "late_reply"
KEY = ("round_id", "member", "role")


def upgrade() -> None:
    column = sa.Column("pass_number", sa.Integer(), nullable=False, server_default="1")
    op.add_column(TABLE, column)
    _change_key((*KEY, "pass_number"))


def downgrade() -> None:
    op.execute(sa.text("DELETE FROM late_reply WHERE pass_number > 1"))
    _change_key(KEY)
    with op.batch_alter_table(TABLE) as batch:
        batch.drop_column("pass_number")


def _change_key(key: tuple[str, ...]) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint(f"{TABLE}_pkey", TABLE, type_="primary")
        op.create_primary_key(f"{TABLE}_pkey", TABLE, [*key])
        return
    # SQLite cannot change a key: the table is copied.
    naming = {"pk": "pk_%(table_name)s"}
    with op.batch_alter_table(TABLE, recreate="always", naming_convention=naming) as batch:
        batch.drop_constraint(f"pk_{TABLE}", type_="primary")
        batch.create_primary_key(f"pk_{TABLE}", [*key])
