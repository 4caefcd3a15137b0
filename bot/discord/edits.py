"""Who edits next in a channel: answers at once, sights of progress with the room they leave.

Discord bears about five edits in five seconds in a channel, whichever messages they are of. Every
round under way keeps one of them for its answer, so that no answer waits for a sight of progress.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable

MOST, WINDOW_SECONDS = 5, 5.0
FORGOTTEN_SECONDS = 30.0  # who shows nothing for so long is not under way any more


class Edits:
    """Lets sights of progress by where every answer to come has room."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._running: defaultdict[str, dict[str, float]] = defaultdict(dict)
        self._made: defaultdict[str, deque[float]] = defaultdict(deque)

    async def turn(self, channel: str, message: str) -> None:
        """Wait until another sight of progress may be shown in a message of a channel."""
        while (seconds := self._wait(channel, message)) > 0:
            await self._sleep(seconds)
        self._made[channel].append(self._clock())

    def answered(self, channel: str, message: str) -> None:
        """Take note that a message holds its answer now, and needs no room any more."""
        self._running[channel].pop(message, None)
        self._made[channel].append(self._clock())

    def _wait(self, channel: str, message: str) -> float:
        """Give the seconds until there may be room; 0 where there is."""
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
