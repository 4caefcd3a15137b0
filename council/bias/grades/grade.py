"""A grade that a judge gave to one answer. Knows no file and no model."""

from dataclasses import dataclass
from enum import StrEnum

WORST, BEST = 1, 5


class Framing(StrEnum):
    """What a judge was asked to look for."""

    POSITIVE = "pos"  # quality: 5 is best
    NEGATIVE = "neg"  # badness: 1 is best


@dataclass(frozen=True, slots=True)
class Grade:
    """What a judge gave to an author's work on an item; `score` is None where it gave none.

    In either framing 5 is best: a negative grade is converted before.
    """

    item: str
    framing: Framing
    judge: str
    author: str
    score: float | None


def converted(raw: int, framing: Framing) -> int:
    """Give a grade as it was written on the scale where 5 is best: 6 − raw in the negative one."""
    return BEST + WORST - raw if framing is Framing.NEGATIVE else raw
