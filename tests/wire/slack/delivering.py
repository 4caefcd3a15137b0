"""What Slack sends an app, and what the app makes of it. Values, and the two ways' one shape."""

from dataclasses import dataclass
from typing import Any, Literal, Protocol

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parcel:
    """One delivery: a command, an interaction or an event; a retry says why it comes again."""

    kind: Literal["slash_commands", "interactive", "events_api"]
    payload: Payload
    attempt: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """How the app took a delivery: what it answered, and after how long."""

    seconds: float
    payload: Payload | None = None
    timed_out: bool = False
    status: int | None = None  # of HTTP
    undelivered: bool = False  # no link was open, or nobody listened
    no_retry: bool = False

    @property
    def accepted(self) -> bool:
        """Whether it came in time, and as a success."""
        return not self.timed_out and not self.undelivered and self.status in {None, 200}

    @property
    def trouble(self) -> str:
        """Why Slack would deliver again, in its word for it."""
        if self.undelivered:
            return "connection_failed"
        return "http_timeout" if self.timed_out else "http_error"


class Transport(Protocol):
    """Brings parcels to the app."""

    async def deliver(self, parcel: Parcel) -> Acknowledgement:
        """Bring one, and wait for its acknowledgement as long as Slack would."""
        ...

    async def close(self) -> None:
        """End every connection."""
        ...
