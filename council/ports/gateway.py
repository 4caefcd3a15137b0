"""The way to models."""

from typing import Protocol

from council.calls import Call, Reply
from council.panel import Member
from council.prices import Price


class Gateway(Protocol):
    """The way to models."""

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what carries the calls, stored with the round: {"litellm": "1.106.2"}."""
        ...

    async def complete(self, call: Call) -> Reply:
        """Give the model's reply; raise GatewayError when there is none.

        The caller sets the deadline by cancelling. Retries happen inside and stop with it. A reply
        with nothing in it is a GatewayError; one that ended at its token limit has `cut` set.
        """
        ...

    def context_tokens(self, member_key: str) -> int | None:
        """Give how many tokens the member takes, prompt and reply together; None if unknown."""
        ...

    async def price(self, seat: Member) -> Price | None:
        """Give what the seat's tokens cost; None if nobody knows, which is never free."""
        ...
