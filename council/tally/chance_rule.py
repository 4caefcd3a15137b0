"""The rule of chance that a round keeps: which null distribution its p and verdict rest on.

`council.tally.chance` computes the distributions, and needs numpy; this does not.
"""

from collections.abc import Mapping
from dataclasses import dataclass

INDEPENDENT, SHARED_ERRORS, LEAD_DECIDES = "1", "2", "3"
EACH_BALLOT = "each-ballot"
DEFAULT_RHO = 0.25  # until rounds with known answers tell how much the judges' errors correlate


@dataclass(frozen=True, slots=True)
class ChanceRule:
    """The rule of a round's p and verdict, and the correlation of judges' errors it assumes.

    With `every_pass`, a unanimous winner is first in every pass of a judge; rounds from before
    that looked at the mean of a judge's passes.
    """

    version: str = LEAD_DECIDES
    rho: float = DEFAULT_RHO
    every_pass: bool = True

    @classmethod
    def of(cls, versions: Mapping[str, str]) -> "ChanceRule":
        """Return the rule among a round's versions; rounds from before rule 2 have none."""
        every_pass = versions.get("unanimous") == EACH_BALLOT
        if versions.get("chance", INDEPENDENT) == INDEPENDENT:
            return cls(INDEPENDENT, 0.0, every_pass)
        return cls(versions["chance"], float(versions["rho"]), every_pass)

    @property
    def lead_decides(self) -> bool:
        """Whether the lead over the second decides among outcomes with the winner's share."""
        return self.version not in {INDEPENDENT, SHARED_ERRORS}

    @property
    def reverses_outside(self) -> bool:
        """Whether outside judges rank in both orders, which came with rule 3."""
        return self.lead_decides

    @property
    def versions(self) -> dict[str, str]:
        """The entries by which a round keeps this rule."""
        own = {"chance": self.version, "rho": f"{self.rho:g}"}
        return own | {"unanimous": EACH_BALLOT} if self.every_pass else own


DEFAULT_RULE = ChanceRule()
