"""A gateway that routes each call to one of several gateways. Knows no provider."""

from collections.abc import Mapping

from council.answers import Call, Reply
from council.errors import GatewayError
from council.money import Price
from council.panel import Member
from council.ports import Gateway


class RoutingGateway:
    """Send a call to the gateway with the longest prefix of the member's key or model id."""

    def __init__(self, routes: Mapping[str, Gateway]) -> None:
        longest_first = sorted(routes, key=len, reverse=True)
        self._routes = {prefix: routes[prefix] for prefix in longest_first}

    @property
    def versions(self) -> dict[str, str]:
        """The merged versions of all gateways."""
        merged: dict[str, str] = {}
        for gateway in self._routes.values():
            merged |= gateway.versions
        return merged

    async def complete(self, call: Call) -> Reply:
        """Return the reply of the member's gateway; raise GatewayError if it has none."""
        gateway = self._gateway_for(call.member)
        if gateway is None:
            model_id = call.member.model_id
            raise GatewayError(f"could not be asked: {model_id!r} is not set up here")
        return await gateway.complete(call)

    def context_tokens(self, member_key: str) -> int | None:
        """Return the context size from the first gateway that knows it; None if none does."""
        known = (gateway.context_tokens(member_key) for gateway in self._routes.values())
        return next((tokens for tokens in known if tokens is not None), None)

    async def price(self, seat: Member) -> Price | None:
        """Return the price from the member's gateway; None if it has none."""
        gateway = self._gateway_for(seat)
        return await gateway.price(seat) if gateway else None

    async def sees_images(self, seat: Member) -> bool:
        """Return whether the seat's model takes images, according to its gateway."""
        gateway = self._gateway_for(seat)
        return gateway is not None and await gateway.sees_images(seat)

    def _gateway_for(self, seat: Member) -> Gateway | None:
        for prefix, gateway in self._routes.items():
            if seat.key.startswith(prefix) or seat.model_id.startswith(prefix):
                return gateway
        return None
