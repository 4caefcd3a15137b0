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
        """Return the process at the other end, None where it is gone or none of these."""
        if transport is None:
            return None
        if transport not in self._known:
            found = self._found(transport)
            if found is None:
                return None
            self._known[transport] = found
        return self._known[transport]

    def _found(self, transport: asyncio.BaseTransport) -> int | None:
        ends = [transport.get_extra_info(name) for name in ("peername", "sockname")]
        if not all(ends):
            return None
        theirs, ours = (end[1] for end in ends)
        return next((pid for pid in self.pids if _has(pid, (theirs, ours))), None)


def _has(pid: int, ports: tuple[int, int]) -> bool:
    """Return whether a process holds a connection from a port to another.

    The port it comes from is not enough: it may be used to another address as well.
    """
    try:
        held = psutil.Process(pid).net_connections("tcp4")
    except psutil.Error:
        return False
    return any((one.laddr[1:] + one.raddr[1:]) == ports for one in held)
