"""One gateway over several: each call goes where its seat's model is. Knows no provider."""

from collections.abc import Mapping

from council.answers import Call, Reply
from council.errors import GatewayError
from council.money import Price
from council.panel import Member
from council.ports import Gateway


class RoutingGateway:
    """Sends each call to the gateway whose prefix fits the member's key or model id.

    The longest prefix that fits wins, so a whole key names one seat, and "" takes the rest.
    """

    def __init__(self, routes: Mapping[str, Gateway]) -> None:
        longest_first = sorted(routes, key=len, reverse=True)
        self._routes = {prefix: routes[prefix] for prefix in longest_first}

    @property
    def versions(self) -> dict[str, str]:
        """The versions of every gateway, in one."""
        merged: dict[str, str] = {}
        for gateway in self._routes.values():
            merged |= gateway.versions
        return merged

    async def complete(self, call: Call) -> Reply:
        """Give the reply from the member's own gateway; raise GatewayError if it has none."""
        gateway = self._way_to(call.member)
        if gateway is None:
            model_id = call.member.model_id
            raise GatewayError(f"could not be asked: nothing here leads to {model_id!r}")
        return await gateway.complete(call)

    def context_tokens(self, member_key: str) -> int | None:
        """Give what the first gateway that knows this seat says; None if none does."""
        known = (gateway.context_tokens(member_key) for gateway in self._routes.values())
        return next((tokens for tokens in known if tokens is not None), None)

    async def price(self, seat: Member) -> Price | None:
        """Give what the member's own gateway says; None if it has none."""
        gateway = self._way_to(seat)
        return await gateway.price(seat) if gateway else None

    def _way_to(self, seat: Member) -> Gateway | None:
        for prefix, gateway in self._routes.items():
            if seat.key.startswith(prefix) or seat.model_id.startswith(prefix):
                return gateway
        return None
