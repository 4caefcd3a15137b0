"""Deliveries to the app and their acknowledgements: values, and the protocol of both transports."""

from dataclasses import dataclass
from typing import Any, Literal, Protocol

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery of a command, an interaction or an event; a retry has a reason."""

    kind: Literal["slash_commands", "interactive", "events_api"]
    payload: Payload
    attempt: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """The app's reply to a delivery, and the time it took."""

    seconds: float
    payload: Payload | None = None
    timed_out: bool = False
    status: int | None = None  # of HTTP
    undelivered: bool = False  # no link was open, or nobody listened
    no_retry: bool = False

    @property
    def accepted(self) -> bool:
        """Return whether it came in time and was a success."""
        return not self.timed_out and not self.undelivered and self.status in {None, 200}

    @property
    def trouble(self) -> str:
        """Return Slack's name for the reason of a redelivery."""
        if self.undelivered:
            return "connection_failed"
        return "http_timeout" if self.timed_out else "http_error"


class Transport(Protocol):
    """Delivers commands, interactions and events to the app."""

    async def deliver(self, parcel: Delivery) -> Acknowledgement:
        """Deliver one, and wait for its acknowledgement as long as Slack would."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...
