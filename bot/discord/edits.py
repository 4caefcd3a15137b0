"""Who goes first to Discord: answers at once, all else with the room they leave.

Discord bears about five edits in five seconds in a channel, whichever messages they are of. Every
round under way keeps one of them for its answer, so that no answer waits for a sight of progress.
It bears fifty calls a second in all: threads and progress take three fifths, and wait a moment
where an answer is on its way.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable

MOST, WINDOW_SECONDS = 5, 5.0
A_SECOND, BURST_SECONDS = 30, 0.5
ANSWER_SECONDS = 0.2  # what an answer is given before anything else is sent
FORGOTTEN_SECONDS = 30.0  # who shows nothing for so long is not under way any more


class Edits:
    """Lets by what is no answer where every answer to come has room."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._running: defaultdict[str, dict[str, float]] = defaultdict(dict)
        self._made: defaultdict[str, deque[float]] = defaultdict(deque)
        self._answering_until = self._paced_at = clock()

    async def turn(self, channel: str, message: str) -> None:
        """Wait until another sight of progress may be shown in a message of a channel."""
        while (seconds := max(self._wait(channel, message), self._pause())) > 0:
            await self._sleep(seconds)
        self._made[channel].append(self._clock())
        self._count()

    async def room(self) -> None:
        """Wait until a call may be made that brings no answer."""
        while (seconds := self._pause()) > 0:
            await self._sleep(seconds)
        self._count()

    def answered(self, channel: str, message: str) -> None:
        """Take note that a message gets its answer now, and needs no room any more."""
        now = self._clock()
        self._running[channel].pop(message, None)
        self._made[channel].append(now)
        self._answering_until = now + ANSWER_SECONDS

    def _pause(self) -> float:
        """Give the seconds for which answers are let by, and Discord is not asked too much."""
        now = self._clock()
        return max(self._answering_until - now, self._paced_at - now - BURST_SECONDS, 0.0)

    def _count(self) -> None:
        self._paced_at = max(self._paced_at, self._clock()) + 1 / A_SECOND

    def _wait(self, channel: str, message: str) -> float:
        """Give the seconds until there may be room in a channel; 0 where there is."""
        now, running, made = self._clock(), self._running[channel], self._made[channel]
        running[message] = now
        for other in [key for key, at in running.items() if now - at > FORGOTTEN_SECONDS]:
            del running[other]
        while made and now - made[0] >= WINDOW_SECONDS:
            made.popleft()
        room = MOST - len(running)
        if len(made) < room:
            return 0.0
        return made[-room] + WINDOW_SECONDS - now if room > 0 else WINDOW_SECONDS
