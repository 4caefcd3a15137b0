"""Where calls wait for their turn at a provider."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from council.providers import Crowd, Limits


class Turnstile(Protocol):
    """Lets calls go out to providers, so many at once and so many a minute at each address.

    Who counts them may be one process, or all that share a database.
    """

    def turn(self, gate: str, limits: Limits) -> AbstractAsyncContextManager[None]:
        """Wait for a turn at an address, and hold it as long as the block lasts.

        Turns come in about the order they were asked for; whoever is cancelled leaves nothing
        behind. Where nobody can count for the moment, a turn is given at once and no error raised.
        """
        ...

    def crowd(self, gate: str) -> Crowd | None:
        """Give what all processes had at an address when last looked; None where nobody knows."""
        ...
