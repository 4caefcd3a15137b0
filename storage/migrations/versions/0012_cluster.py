"""Which programs may work on this database; on a server, the jobs of a cluster as well."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

# Procrastinate has a script that makes its tables, and none that takes them down.
DOWN = """
DROP TABLE procrastinate_events, procrastinate_periodic_defers, procrastinate_jobs,
           procrastinate_workers CASCADE;
DO $$
DECLARE found record;
BEGIN
    FOR found IN SELECT oid::regprocedure AS name FROM pg_proc
                 WHERE starts_with(proname, 'procrastinate_')
                   AND pronamespace = current_schema()::regnamespace LOOP
        EXECUTE 'DROP FUNCTION ' || found.name || ' CASCADE';
    END LOOP;
END $$;
DROP TYPE IF EXISTS procrastinate_job_to_defer_v1, procrastinate_job_event_type,
                    procrastinate_job_status CASCADE;
"""


def upgrade() -> None:
    op.create_table(
        "compatible",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("oldest", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    if _is_server():
        from procrastinate.schema import SchemaManager

        _run(SchemaManager.get_schema())


def downgrade() -> None:
    if _is_server():
        _run(DOWN)
    op.drop_table("compatible")


def _is_server() -> bool:
    return op.get_bind().dialect.name == "postgresql"


def _run(script: str) -> None:
    # The driver takes a per cent sign for a parameter.
    op.get_bind().exec_driver_sql(script.replace("%", "%%"))
