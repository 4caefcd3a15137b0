"""A Postgres of a soak's own, for as long as a block lasts."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.postgres import Server


@contextmanager
def a_server() -> Iterator[Server]:
    """Give a server that runs, and leave nothing of it."""
    server = Server()
    try:
        server.start()
        yield server
    finally:
        server.remove()
