"""What litellm must be told about a seat, beyond its member."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from council.gateways.traffic import Address
from council.prices import Price

Tighten = Callable[[Mapping[str, object]], dict[str, object]]

_PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class SeatSettings:
    """Where a seat's model is, and on what terms.

    `tighten` narrows a JSON schema to what a local server enforces; a seat that has it is taken to
    enforce schemas. Prices are the seat's own and win over litellm's; without both, litellm's
    count, except on a server of one's own, where nobody knows.
    """

    model: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    max_tokens: int | None = None
    context_tokens: int | None = None
    stream: bool = False
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    tighten: Tighten | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def route(self) -> str:
        """The provider's name in the model id; "" where the id has none."""
        return self.model.partition("/")[0] if "/" in self.model else ""

    @property
    def name(self) -> str:
        """The model's name at its provider."""
        return self.model.partition("/")[2] or self.model

    @property
    def address(self) -> Address:
        """Where its provider answers."""
        return Address(self.route, self.api_base)

    @property
    def place(self) -> str:
        """The provider in words that give no address away."""
        return self.address.place

    @property
    def is_ours(self) -> bool:
        """Whether the model answers from this machine or a private network."""
        host = (urlsplit(self.api_base).hostname or "") if self.api_base else ""
        try:
            return ip_address(host).is_private
        except ValueError:
            return bool(host) and "." not in host  # "localhost", or a container's name

    @property
    def own_price(self) -> Price | None:
        """The seat's own price, per token; None where it does not give both."""
        price_in, price_out = self.input_usd_per_million, self.output_usd_per_million
        if price_in is None or price_out is None:
            return None
        return Price(price_in / _PER_MILLION, price_out / _PER_MILLION, self.max_tokens)

    def own_cost(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """Give the cost at the seat's own prices in USD; None without prices or counts."""
        price_in, price_out = self.input_usd_per_million, self.output_usd_per_million
        if price_in is None or price_out is None:
            return None
        if price_in == price_out == 0:
            return 0.0
        if tokens_in is None or tokens_out is None:
            return None
        return (price_in * tokens_in + price_out * tokens_out) / _PER_MILLION
