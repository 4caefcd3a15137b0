"""A real Postgres server for tests, from a wheel: nothing has to be installed or running."""

from tests.postgres.server import Server, a_database, why_not

__all__ = ["Server", "a_database", "why_not"]
