"""Research methods, plugged in by the composition root; offered once a panel names them."""

from council import filters
from council.methods import Method, plug_in_change
from council.pipeline.run import Collect, plug_in
from council.research.canary import with_canary
from council.research.filters import FILTERS
from council.research.methods import (
    grading,
    multiple_evidence,
    pairwise_elimination,
    peer_discussion,
    revision,
    solve_first,
    worst_first,
)

# Each method, with what it does between the draw and the count; None asks for the ballots alone.
RESEARCH_METHODS: tuple[tuple[Method, Collect | None], ...] = (
    (multiple_evidence.MULTIPLE_EVIDENCE, None),
    (solve_first.SOLVE_FIRST, solve_first.solve_then_rank),
    *((method, None) for method in grading.GRADING),
    (worst_first.WORST_FIRST, None),
    (revision.CRITIQUE, revision.collect_critique),
    (revision.PEER_REVIEW, revision.collect_peer_review),
    (pairwise_elimination.PAIRWISE_ELIMINATION, pairwise_elimination.collect_matches),
    (peer_discussion.PEER_DISCUSSION, peer_discussion.collect_discussion),
)


def plug_in_all() -> None:
    """Make every research method known, canaries and filters."""
    for method, collect in RESEARCH_METHODS:
        plug_in(method, collect)
    plug_in_change(with_canary)
    filters.plug_in(FILTERS)
