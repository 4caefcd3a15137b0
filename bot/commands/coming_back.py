"""A chat that comes back as long as the bot runs, until it says that it cannot."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from math import inf

from bot.chat import UnsureError
from bot.observability.logs import unforeseen
from council.errors import CouncilError

LONGEST_PAUSE_SECONDS = 60.0


class ComingBack:
    """Serves a chat anew whenever it is lost; `tell` hears how it stands, in a sentence."""

    def __init__(self, name: str, tell: Callable[[str], None]) -> None:
        self._name = name
        self._tell = tell
        self._heard_at = inf
        self._hears = False

    def say(self, what: str) -> None:
        """Say how the chat stands."""
        self._tell(f"{self._name}: {what}")

    def heard(self, how: str) -> None:
        """Say that the chat is heard now, and how."""
        self._hears, self._heard_at = True, time.monotonic()
        self.say(how)

    async def serve(self, served: Callable[[], Awaitable[None]]) -> None:
        """Serve until cancelled, or until a CouncilError says why the chat is there no more."""
        pause = 1.0
        while True:
            why = "The connection ended."
            try:
                await served()
            except UnsureError as error:
                why = str(error)
            except CouncilError as error:
                self.say(f"{'stopped' if self._hears else 'not started'}. {error}")
                return
            # The outermost handler: the chat comes back, and the page goes on.
            except Exception as error:  # noqa: BLE001
                why = unforeseen(f"{self._name.lower()}_failed", error)
            # One that is lost as soon as it is found must not be asked every second.
            if time.monotonic() - self._heard_at > LONGEST_PAUSE_SECONDS:
                pause, self._heard_at = 1.0, inf
            self.say(f"{why} The next try is in {pause:.0f} s.")
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE_SECONDS, 2 * pause)
