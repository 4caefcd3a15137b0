"""How far a bake-off is, for whoever watches it."""

from dataclasses import dataclass, replace

from council.bakeoffs.bakeoff import Bakeoff, Ending


@dataclass(frozen=True, slots=True)
class Failed:
    """A question that came to no answer, by its number in the suite, and why."""

    number: int
    why: str


@dataclass(frozen=True, slots=True)
class Progress:
    """A bake-off as it stands: `over` questions came to an end, the `failed` ones among them.

    `spent_micro` is what those cost; `seconds_left` is None as long as nothing tells. `changed` is
    the newest version of the suite, where it is another than the one that is held; `stored` rounds
    were begun.
    """

    bakeoff: Bakeoff
    over: int = 0
    failed: tuple[Failed, ...] = ()
    under_way: int = 0
    spent_micro: int = 0
    seconds_left: float | None = None
    changed: str = ""
    stored: int = 0

    @property
    def questions(self) -> int:
        """How many questions the suite has."""
        return len(self.bakeoff.suite.questions)

    @property
    def waiting(self) -> int:
        """How many questions are still to be asked."""
        return self.questions - self.over - self.under_way

    @property
    def is_begun(self) -> bool:
        """Whether anything of it is stored beside itself."""
        return self.stored > 0

    @property
    def is_whole(self) -> bool:
        """Whether every question is over."""
        return self.over == self.questions

    def ended(self, ending: Ending) -> "Progress":
        """Give the same at its end."""
        over = replace(self.bakeoff, ending=ending)
        return replace(self, bakeoff=over, under_way=0, seconds_left=None)
