"""The Postgres server of the tests keeps its address and its data over a restart."""

import pytest
from sqlalchemy import make_url

from tests.postgres import Server, a_database


@pytest.fixture
def name(migrated_url: str) -> str:
    found = make_url(migrated_url).database
    assert found
    return found


def test_a_migrated_database_has_its_tables_and_no_rounds(postgres: Server, name: str) -> None:
    assert postgres.execute("SELECT count(*) FROM round", name=name) == [(0,)]


def test_a_new_database_is_empty(postgres: Server, postgres_url: str) -> None:
    own = make_url(postgres_url).database or ""

    tables = postgres.execute("SELECT * FROM pg_tables WHERE schemaname = 'public'", name=own)

    assert tables == []


def test_what_was_stored_outlives_a_restart_at_the_same_address(
    postgres: Server, postgres_url: str
) -> None:
    own = make_url(postgres_url).database or ""
    postgres.execute("CREATE TABLE kept AS SELECT 7 AS number", name=own)

    postgres.restart()

    assert postgres.execute("SELECT number FROM kept", name=own) == [(7,)]
    assert postgres.url(own) == postgres_url


def test_databases_of_two_tests_are_two(postgres: Server) -> None:
    with a_database(postgres) as one, a_database(postgres) as other:
        assert one != other
