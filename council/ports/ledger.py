"""Where money is reserved and spent."""

from collections.abc import Mapping
from typing import Protocol

from council.spending import Account, Caps, Refusal, Scope, Used


class Ledger(Protocol):
    """Where money is reserved and spent; each call is one transaction. Raises StoreError.

    Amounts are micro-dollars. What a round takes of a cap is what it has reserved in all, or what
    it has spent where that is more.
    """

    async def reserve(self, account: Account, micro: int, caps: Caps) -> Refusal | None:
        """Reserve so much for a new round; give the cap that it does not fit under, if any.

        A round that is in the ledger already, on whatever day, is left as it is.
        """
        ...

    async def extend(self, account: Account, micro: int, caps: Caps) -> Refusal | None:
        """Have so much in all reserved for a round; give the cap it does not fit under, if any.

        What it spent on other days counts, and what it reserved on them is freed, whether the rest
        fits or not. What is reserved already for this day is never made less.
        """
        ...

    async def settle(self, account: Account, *costs: int | None) -> None:
        """Add what calls cost; None is a call whose cost nobody knows."""
        ...

    async def free(self, round_id: str) -> None:
        """Give back what a round has reserved and not spent."""
        ...

    async def held(self) -> tuple[str, ...]:
        """Give the rounds that have something reserved."""
        ...

    async def spent(self, round_id: str) -> int:
        """Give what a round has spent on all its days."""
        ...

    async def used(self, account: Account) -> Mapping[Scope, Used]:
        """Give what is gone of each scope that the account falls under."""
        ...
