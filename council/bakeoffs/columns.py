"""Very many records as arrays: a row a round, in time order, a column a member or a judge.

Unknown is NaN everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.fields import AUTHORED, JUDGED, PAIRED, WHOLE
from council.bakeoffs.packed import Packed

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Truths = NDArray[np.bool_]
Indexes = NDArray[np.intp]

PRECISION = 1e-6  # of what is computed from numbers in single precision


@dataclass(frozen=True, slots=True)
class Block:
    """The rounds of one shape: where they stand among all, and their members' pairs.

    `pairs` has an entry for each of `combinations(members, 2)`, with the fields of PAIRED.
    """

    where: Indexes
    members: tuple[str, ...]
    pairs: Singles

    @property
    def won(self) -> Singles:
        """The share of judges who put the first of each pair above the second."""
        return self.pairs[:, :, PAIRED.index("won")]


@dataclass(frozen=True, slots=True)
class Columns:
    """The numbers of rounds, oldest first, over all members and judges that sat in any.

    `rows` says what each round was; the arrays are read by the names in `fields`.
    """

    rows: tuple[Packed, ...]
    members: tuple[str, ...]
    judges: tuple[str, ...]
    authored: Singles
    judged: Singles
    whole: Singles
    blocks: tuple[Block, ...]

    def author(self, field: str) -> Floats:
        """Give a field of AUTHORED: a row a round, a column a member."""
        return self.authored[:, :, AUTHORED.index(field)].astype(float)

    def judge(self, field: str) -> Floats:
        """Give a field of JUDGED: a row a round, a column a judge."""
        return self.judged[:, :, JUDGED.index(field)].astype(float)

    def round(self, field: str) -> Floats:
        """Give a field of WHOLE, one number a round; `winner` counts in `members`, from 0."""
        return self.whole[:, WHOLE.index(field)].astype(float)

    def margin(self, first: str, second: str) -> Floats:
        """Give the first's margin over the second by the judges outside the pair, a round each."""
        return self._pair(first, second, "margin", lambda margins: -margins)

    def won(self, first: str, second: str) -> Floats:
        """Give the share of judges who put the first above the second, a round each."""
        return self._pair(first, second, "won", lambda shares: 1 - shares)

    def _pair(
        self, first: str, second: str, field: str, turned: Callable[[Singles], Singles]
    ) -> Floats:
        found = np.full(len(self.rows), np.nan)
        for block in self.blocks:
            if first in block.members and second in block.members:
                one, other = block.members.index(first), block.members.index(second)
                pairs = list(combinations(range(len(block.members)), 2))
                numbers = block.pairs[:, pairs.index((min(one, other), max(one, other)))]
                own = numbers[:, PAIRED.index(field)]
                found[block.where] = own if one < other else turned(own)
        return found

    def only(self, wanted: Truths) -> "Columns":
        """Give the rounds that are wanted, and the members and judges that sat in any of them."""
        if wanted.all():
            return self
        after = np.cumsum(wanted) - 1
        authored, judged = self.authored[wanted], self.judged[wanted]
        seated = np.array((~np.isnan(authored)).any(axis=(0, 2)))
        voted = np.array((~np.isnan(judged)).any(axis=(0, 2)))
        blocks = (
            Block(after[block.where[kept]], block.members, block.pairs[kept])
            for block, kept in ((block, wanted[block.where]) for block in self.blocks)
            if kept.any()
        )
        return Columns(
            rows=tuple(row for row, kept in zip(self.rows, wanted, strict=True) if kept),
            members=tuple(m for m, kept in zip(self.members, seated.tolist(), strict=True) if kept),
            judges=tuple(j for j, kept in zip(self.judges, voted.tolist(), strict=True) if kept),
            authored=authored[:, seated],
            judged=judged[:, voted],
            whole=_with_winners(self.whole[wanted], np.cumsum(seated) - 1),
            blocks=tuple(blocks),
        )


def _with_winners(whole: Singles, after: Indexes) -> Singles:
    """Give rounds whose winners are counted among the members that are left."""
    won = ~np.isnan(whole[:, 0])
    found = whole.copy()
    found[won, 0] = after[whole[won, 0].astype(int)]
    return found
