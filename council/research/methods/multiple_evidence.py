"""Multiple evidence: every judge ranks three times, each time in another balanced order.

Wang et al. 2023 (multiple evidence calibration).
"""

from collections.abc import Sequence
from dataclasses import replace

from council.labels import LabelMap, Slate, draw_slates
from council.methods import Method

BALLOTS = 3


def draw_evidence_slates(
    labels: LabelMap, onlookers: Sequence[str], seed: str
) -> tuple[Slate, ...]:
    """Return each judge's balanced slate and two rotations of it, a third of it apart.

    Rotating moves all slots alike, so each pass is as balanced as the first. Slates of three or
    more answers are all different; of two there are only two orders.
    """
    return tuple(
        replace(slate, shown=slate.shown[turn:] + slate.shown[:turn], pass_number=i + 1)
        for slate in draw_slates(labels, onlookers, seed)
        for i in range(BALLOTS)
        for turn in (i * len(slate.shown) // BALLOTS,)
    )


MULTIPLE_EVIDENCE = Method(
    "multiple-evidence",
    "Every judge ranks three times, in different orders; its three rankings are averaged.",
    draw_evidence_slates,
    passes=BALLOTS,
)
