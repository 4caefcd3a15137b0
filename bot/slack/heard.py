"""Which events were heard before: Slack delivers one again where it doubts that it arrived."""

from collections import OrderedDict

from bot.slack.whispers import Whispers

MOST_EVENTS = 10_000  # Slack gives up after minutes; nobody says so much in them


class HeardBefore:
    """Remembers the newest events of this process; a round is safe by its key even without."""

    def __init__(self) -> None:
        self._events: OrderedDict[str, Whispers] = OrderedDict()

    def before(self, event: str) -> Whispers | None:
        """Give who tells of an event that was heard before; None for a new one."""
        return self._events.get(event)

    def remember(self, event: str, whispers: Whispers) -> None:
        """Remember an event, and who tells of it."""
        self._events[event] = whispers
        if len(self._events) > MOST_EVENTS:
            self._events.popitem(last=False)
