"""A temporary Postgres server for a soak test."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.postgres import Server


@contextmanager
def a_server() -> Iterator[Server]:
    """Yield a running server, and delete it afterwards."""
    server = Server()
    try:
        server.start()
        yield server
    finally:
        server.remove()
