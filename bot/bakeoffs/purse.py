"""What a bake-off may spend: what its rounds have spent, and what those under way still may.

All amounts are micro-dollars. Knows no ledger.
"""

from council.errors import BudgetError
from council.money import about, dollars

HEADROOM = 2  # times what a round is expected to cost, for ballots that are asked for again


class Purse:
    """A bake-off's money; no round is let in whose expected cost does not fit in what is left."""

    def __init__(self, cap: int | None) -> None:
        self._cap = cap
        self._spent: dict[int, int] = {}
        self._held: dict[int, int] = {}

    @property
    def spent(self) -> int:
        """What rounds that are not under way have spent."""
        return sum(self._spent.values())

    def let_in(self, number: int, expected: int, own: int | None) -> int | None:
        """Give what a question's new round may spend, and keep it for that; None is no limit.

        `own` is the cap that its panel gives every round. Raises BudgetError where what it is
        expected to cost is not left.
        """
        wanted = expected if own is None else min(own, expected)
        left = self._left(wanted)
        if left is None:
            return own
        most = min(left, wanted * HEADROOM)
        self._held[number] = most if own is None else min(own, most)
        return self._held[number]

    def let_in_again(self, number: int, own: int) -> None:
        """Keep for a round that is gone on with what it may spend in all; BudgetError likewise."""
        before = self._spent.pop(number, 0)
        self._held.pop(number, None)
        try:
            self._left(own)
        except BudgetError:
            self._spent[number] = before
            raise
        self._held[number] = own

    def settle(self, number: int, micro: int) -> None:
        """Note what a question's round has spent, and keep no more for it."""
        self._held.pop(number, None)
        self._spent[number] = micro

    def _left(self, wanted: int) -> int | None:
        """Give what is left, of which so much is wanted; None without a cap."""
        if self._cap is None:
            return None
        left = self._cap - self.spent - sum(self._held.values())
        if wanted > left:
            raise BudgetError(
                f"The cap of {dollars(self._cap)} for this bake-off is reached: "
                f"{dollars(self.spent)} is spent, and the next question may cost {about(wanted)}."
            )
        return left
