"""A real Postgres for tests, from a wheel: nothing has to be installed or running before."""

from tests.postgres.server import Server, a_database, why_not

__all__ = ["Server", "a_database", "why_not"]
