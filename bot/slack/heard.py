"""Which events were heard before: Slack delivers one again where it doubts that it arrived."""

from collections import OrderedDict

MOST_EVENTS = 10_000  # Slack gives up after minutes; nobody says so much in them


class HeardBefore:
    """Remembers the newest events of this process; a round is safe by its key even without."""

    def __init__(self) -> None:
        self._events: OrderedDict[str, None] = OrderedDict()

    def is_new(self, event: str) -> bool:
        """Say whether an event is heard for the first time, and remember it."""
        if event in self._events:
            return False
        self._events[event] = None
        if len(self._events) > MOST_EVENTS:
            self._events.popitem(last=False)
        return True
