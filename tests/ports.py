"""A port that nobody listens on, for a server that has to be told one, or to keep it."""

import secrets
import socket
from contextlib import suppress

# Below those that connections are given: one of them may have it while the server starts again.
PORTS = range(12_000, 32_000)


def free_port() -> int:
    """Give a free port of loopback."""
    while True:
        with suppress(OSError), socket.socket() as probe:
            port = secrets.choice(PORTS)
            probe.bind(("127.0.0.1", port))
            return port
