"""A free port, for a server that needs a fixed one."""

import secrets
import socket
from contextlib import suppress

# Below the ephemeral ports, so that no connection takes it while the server restarts.
PORTS = range(12_000, 32_000)


def free_port() -> int:
    """Return a free port on loopback."""
    while True:
        with suppress(OSError), socket.socket() as probe:
            port = secrets.choice(PORTS)
            probe.bind(("127.0.0.1", port))
            return port
