"""Multiple evidence: every judge ranks three times, each time in another balanced order.

Two answers are ranked twice.
Wang et al. 2023 (multiple evidence calibration).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from council.labels import LabelMap, Slate, draw_slates
from council.methods import Method

BALLOTS = 3


def draw_evidence_slates(
    labels: LabelMap, onlookers: Sequence[str], seed: str
) -> tuple[Slate, ...]:
    """Return each judge's balanced slate and two rotations of it, a third of it apart.

    Rotating moves all slots alike, so each pass is as balanced as the first. Two answers have only
    two orders, and each is shown once, so that they weigh the same.
    """
    slates = draw_slates(labels, onlookers, seed)
    return tuple(
        one for slate in slates for one in _rotations(slate, min(BALLOTS, len(slate.shown)))
    )


def draw_three_slates(labels: LabelMap, onlookers: Sequence[str], seed: str) -> tuple[Slate, ...]:
    """Return the slates of version 1: always three, so the first order of two answers twice."""
    slates = draw_slates(labels, onlookers, seed)
    return tuple(one for slate in slates for one in _rotations(slate, BALLOTS))


def _rotations(slate: Slate, passes: int) -> Iterator[Slate]:
    for i in range(passes):
        turn = i * len(slate.shown) // passes
        yield replace(slate, shown=slate.shown[turn:] + slate.shown[:turn], pass_number=i + 1)


_FIRST = Method(
    "multiple-evidence",
    "Every judge ranks three times, in different orders; its three rankings are averaged.",
    draw_three_slates,
    passes=BALLOTS,
)
MULTIPLE_EVIDENCE = replace(
    _FIRST, draw_slates=draw_evidence_slates, version="2", earlier=(_FIRST,)
)
