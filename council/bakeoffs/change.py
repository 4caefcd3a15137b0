"""What changed: a run against the runs before it, beyond noise."""

from dataclasses import dataclass
from enum import StrEnum

from council.bakeoffs.columns import Columns
from council.bakeoffs.intervals import Interval


class Measure(StrEnum):
    """What of a member can move."""

    SHARE = "share"
    ACCURACY = "accuracy"


class Sign(StrEnum):
    """What may hint that a provider put another model behind a name."""

    LENGTH = "length"
    LATENCY = "latency"
    REFUSALS = "refusals"


@dataclass(frozen=True, slots=True)
class Move:
    """A member against its own past, question by question, with the members both have.

    `before` and `now` are means over the `questions` both have; `ci` is the difference's 95 %
    interval, for itself alone; `p` is two-sided. `is_beyond_noise` allows for all members being
    looked at. The past is its last `runs` runs, since it last moved beyond noise; `since_last` is
    the difference to the run before alone.
    """

    member: str
    measure: Measure
    before: float
    now: float
    difference: float
    ci: Interval
    p: float
    is_beyond_noise: bool
    questions: int
    runs: int
    since_last: float | None


@dataclass(frozen=True, slots=True)
class Hint:
    """What changed about a member's answers beyond noise, as a silent swap of models would do.

    Words and seconds are geometric means, refusals the share of answers.
    """

    member: str
    sign: Sign
    before: float
    now: float
    p: float


@dataclass(frozen=True, slots=True)
class Changes:
    """All that changed; `runs` is how many earlier runs of this suite's version there were.

    `moves` has every member that can be compared, the largest fall first, noise or not. `new` and
    `missing` are members that answered in this run alone, and in the run before alone.
    """

    bakeoff: str
    runs: int
    moves: tuple[Move, ...] = ()
    hints: tuple[Hint, ...] = ()
    new: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def is_news(self) -> bool:
        """Whether there is anything to tell; never for a first run."""
        return bool(self.beyond_noise or self.hints or self.new or self.missing)

    @property
    def beyond_noise(self) -> tuple[Move, ...]:
        """The moves that are more than noise."""
        return tuple(move for move in self.moves if move.is_beyond_noise)

    def worse(self, member: str = "") -> tuple[Move, ...]:
        """Give the falls beyond noise, of one member or of all."""
        falls = (move for move in self.beyond_noise if move.difference < 0)
        return tuple(move for move in falls if member in {"", move.member})


def changes(now: Columns, before: Columns) -> Changes:
    """Give what changed from the runs before, which may be none, to a run of the same suite."""
    raise NotImplementedError
