"""The votes of very many rounds of the same seats, as arrays; a row is a round."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.columns import Floats, Singles, Truths

Bytes = NDArray[np.uint8]

# Kinds of audits by their number; 0 is none. A spoiled one is of no kind that is known.
KINDS = ("", "order", "own", "named", "spoiled", "other")
NOBODY = 255  # where a judge, a count or a flag is not there


def shares_of(doubled: Bytes) -> Floats:
    """Give Borda shares from doubled ranks along the last axis, 0 for what was not shown.

    What was not shown is NaN, and so is all of a ballot over fewer than two answers.
    """
    shown = doubled > 0
    count = shown.sum(axis=-1, keepdims=True).astype(float)
    rivals = np.where(count > 1, count - 1, np.nan)
    return np.where(shown, (count - doubled / 2) / rivals, np.nan)


@dataclass(frozen=True)
class Block:
    """Rounds of the same seats. The axes after the first are judges, then members as authors.

    `doubled` are ranks times two and `slots` places from 1, both 0 for what a judge was not
    shown; `spoiled`, `first` and `audited_by` are NOBODY for who was not there. `style` counts
    what `traits` names, `lengths` are tokens, NaN without an answer, and `usd` is what the audit
    cost, NaN where nobody knows.
    """

    judges: tuple[str, ...]
    makers: tuple[str, ...]
    doubled: Bytes
    slots: Bytes
    audit: Bytes
    audited_by: Bytes
    audit_doubled: Bytes
    spoiled: Bytes
    first: Bytes
    style: Bytes
    lengths: Singles
    usd: Singles

    @property
    def members(self) -> int:
        """How many of the judges, from the first on, write answers too."""
        return int(self.doubled.shape[2])

    @cached_property
    def shares(self) -> Floats:
        """The Borda share each judge gave each author, by round."""
        return shares_of(self.doubled)

    @property
    def ballots(self) -> Truths:
        """Which judges cast a ballot that says anything, by round."""
        found: Truths = np.any(~np.isnan(self.shares), axis=2)
        return found

    @property
    def voted(self) -> "Block":
        """The rounds in which anybody cast such a ballot."""
        kept = self.ballots.any(axis=1)
        if kept.all():
            return self
        own = ((field.name, getattr(self, field.name)) for field in fields(self))
        arrays = ((name, one) for name, one in own if isinstance(one, np.ndarray))
        change: dict[str, Any] = {name: one[kept] for name, one in arrays}
        return replace(self, **change)

    def audits(self, kind: str, judge: int) -> Truths:
        """Say which rounds carry an audit of this kind by this judge."""
        found: Truths = (self.audit == KINDS.index(kind)) & (self.audited_by == judge)
        return found

    def audit_shares(self, rounds: Truths) -> Floats:
        """Give the Borda shares of the audit ballots of these rounds."""
        return shares_of(self.audit_doubled[rounds])
