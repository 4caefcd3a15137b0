"""What a model's tokens cost. Knows no provider."""

from dataclasses import dataclass

from council.money import cost_micro


@dataclass(frozen=True, slots=True)
class Price:
    """What a seat's tokens cost in USD each, read and written.

    `most_tokens_out` is the limit sent along with each of its calls; None where none is sent.
    """

    usd_in: float
    usd_out: float
    most_tokens_out: int | None = None

    @property
    def is_free(self) -> bool:
        """Whether no call costs anything."""
        return self.usd_in == self.usd_out == 0

    def micro(self, tokens_in: int, tokens_out: int) -> int:
        """Give what a call costs in micro-dollars, rounded up."""
        return cost_micro(self.usd_in * tokens_in + self.usd_out * tokens_out)


FREE = Price(0, 0)
