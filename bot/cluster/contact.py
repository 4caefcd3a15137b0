"""Whether the database server can be reached, as this process sees it."""

import asyncio
from collections.abc import Callable

import structlog

from bot.cluster.pace import clock


class Contact:
    """Since when the server is there, and when there last was trouble with it.

    `returned` is set whenever it has come back.
    """

    def __init__(self, clock: Callable[[], float] = clock) -> None:
        self._clock = clock
        self.is_there = True
        self.returned = asyncio.Event()
        self._since = clock()
        self._troubled = float("-inf")

    def lost(self) -> None:
        """Note that it did not answer."""
        self.stumbled()
        if self.is_there:
            self.is_there = False
            structlog.get_logger().warning("database_away")

    def stumbled(self) -> None:
        """Note that a connection broke, whatever others do."""
        self._troubled = self._clock()

    def found(self) -> None:
        """Note that it answers."""
        if not self.is_there:
            self.is_there = True
            self._since = self._clock()
            structlog.get_logger().warning("database_back")
            self.returned.set()

    def held_for(self, seconds: float) -> bool:
        """Say whether it has been there for so long without a break."""
        return self.is_there and self._clock() - self._since >= seconds

    def was_troubled_since(self, moment: float) -> bool:
        """Say whether anything went wrong with it since a moment of this clock."""
        return self._troubled >= moment
