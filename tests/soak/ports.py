"""A port that nobody listens on."""

import socket


def free_port() -> int:
    """Give a free port of loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
