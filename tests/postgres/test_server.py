"""The Postgres server of the tests keeps its address and its data over a restart."""

import pytest
from sqlalchemy import make_url

from tests.postgres import Server
from tests.postgres.server import ReusedDatabase

COUNT = "SELECT count(*) FROM compatible UNION ALL SELECT count(*) FROM memo"
EMPTY = [(1,), (0,)]


def name_of(url: str) -> str:
    return make_url(url).database or ""


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO memo (kind, name, text, at) VALUES ('', '', '', now())",
        "DROP TABLE memo",
        "ALTER TABLE memo ADD COLUMN more text",
        "DROP INDEX ix_round_asked_at",
        "CREATE TABLE more (id int)",
        "UPDATE compatible SET oldest = '0001'",
        "DROP TABLE alembic_version",
        "ALTER ROLE postgres IN DATABASE {} SET search_path = elsewhere",
        "ALTER DATABASE {} SET default_transaction_read_only = on",
    ],
)
def test_a_reused_database_is_restored_after_any_change(
    postgres: Server, migrated_url: str, change: str
) -> None:
    database = ReusedDatabase(postgres, name_of(migrated_url))
    name = name_of(database.url)
    postgres.execute(change.format(name), name=name)

    database.restore()

    assert postgres.execute(COUNT, name=name) == EMPTY
    assert postgres.execute("SELECT count(*) FROM pg_tables WHERE tablename = 'more'") == [(0,)]
    postgres.execute(f"DROP DATABASE {name}")
