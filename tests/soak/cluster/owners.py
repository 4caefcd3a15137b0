"""Which process holds the other end of a connection of loopback.

Processes of a cluster are alike down to their settings, so only the system can tell them apart.
"""

import asyncio
from weakref import WeakKeyDictionary

import psutil


class Owners:
    """Knows the processes that may connect, and remembers whose each connection was."""

    def __init__(self) -> None:
        self.pids: set[int] = set()
        self._known: WeakKeyDictionary[asyncio.BaseTransport, int] = WeakKeyDictionary()

    def of(self, transport: asyncio.BaseTransport | None) -> int | None:
        """Give the process at the other end, None where it is gone or none of these."""
        if transport is None:
            return None
        if transport not in self._known:
            found = self._found(transport)
            if found is None:
                return None
            self._known[transport] = found
        return self._known[transport]

    def _found(self, transport: asyncio.BaseTransport) -> int | None:
        peer = transport.get_extra_info("peername")
        return next((pid for pid in self.pids if peer and _has(pid, peer[1])), None)


def _has(pid: int, port: int) -> bool:
    """Say whether a process holds a connection from this port."""
    try:
        held = psutil.Process(pid).net_connections("tcp4")
    except psutil.Error:
        return False
    return any(connection.raddr and connection.laddr.port == port for connection in held)
