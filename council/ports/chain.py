"""Where the chains of closed rounds are read."""

from typing import Protocol

from council.links import KeptLink, Link


class Chain(Protocol):
    """The chains that are stored, one a scope; raises StoreError when it cannot."""

    async def heads(self) -> tuple[Link, ...]:
        """Give the last link of every chain, by scope."""
        ...

    async def links(self, scope: str, after: int | None, limit: int) -> tuple[KeptLink, ...]:
        """Give the links of a chain that come after a number, in order, so many at most.

        Without a number, from the first on.
        """
        ...
