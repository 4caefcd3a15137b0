"""Several rankings of one judge: the pass is a part of their keys."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

KEYS = {
    "slate": ("round_id", "judge"),
    "ballot": ("round_id", "judge", "audit"),
    "spoiled_ballot": ("round_id", "judge", "attempt"),
}


def upgrade() -> None:
    for table, key in KEYS.items():
        column = sa.Column("pass_number", sa.Integer(), nullable=False, server_default="1")
        _change_key(table, (*key, "pass_number"), add=column)


def downgrade() -> None:
    for table, key in KEYS.items():
        op.execute(sa.text(f"DELETE FROM {table} WHERE pass_number > 1"))  # noqa: S608
        _change_key(table, key)
        with op.batch_alter_table(table) as batch:
            batch.drop_column("pass_number")


def _change_key(table: str, key: tuple[str, ...], add: sa.Column[int] | None = None) -> None:
    if add is not None:
        op.add_column(table, add)
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint(f"{table}_pkey", table, type_="primary")
        op.create_primary_key(f"{table}_pkey", table, [*key])
        return
    # SQLite cannot change a key: the table is copied.
    naming = {"pk": "pk_%(table_name)s"}
    with op.batch_alter_table(table, recreate="always", naming_convention=naming) as batch:
        batch.drop_constraint(f"pk_{table}", type_="primary")
        batch.create_primary_key(f"pk_{table}", [*key])
