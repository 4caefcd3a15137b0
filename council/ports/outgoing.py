"""Where messages on their way out are kept."""

from datetime import datetime
from typing import Protocol

from council.outgoing import Claim


class Outgoing(Protocol):
    """Where messages on their way out are kept; raises StoreError when it cannot.

    Moments are those of the clock that all who share it have: what is given as `now` counts only
    where that is the caller's.
    """

    async def claim(self, key: str, round_id: str, now: datetime) -> Claim:
        """Undertake to send a message of a round, or give the claim there is already."""
        ...

    async def take_over(self, claim: Claim, now: datetime) -> bool:
        """Take a claim from whoever let it lie; False if it was marked or taken meanwhile."""
        ...

    async def mark(self, key: str, message: str) -> None:
        """Note that a message was sent, with the id it has in its chat."""
        ...

    async def message_of(self, key: str) -> str | None:
        """Give the message that was sent under a key, None if none was."""
        ...

    async def key_of(self, start: str, message: str) -> str | None:
        """Give the key with this start under which a message was sent, if any was."""
        ...

    async def unmarked(self, older_seconds: float, now: datetime) -> int:
        """Count the claims that have lain for longer than that without a mark."""
        ...
