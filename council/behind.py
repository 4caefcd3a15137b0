"""A gateway before another one, which it leaves everything to but the calls."""

from council.panel import Member
from council.ports import Gateway
from council.prices import Price


class Behind:
    """What every gateway says as the one behind it does; whoever extends it makes the calls."""

    __slots__ = ()

    gateway: Gateway

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the gateway behind it."""
        return self.gateway.versions

    def context_tokens(self, member_key: str) -> int | None:
        """Give what the gateway behind it says."""
        return self.gateway.context_tokens(member_key)

    async def price(self, seat: Member) -> Price | None:
        """Give what the gateway behind it says."""
        return await self.gateway.price(seat)
