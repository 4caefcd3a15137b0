"""Research methods, plugged in by the composition root; offered once a panel names them."""

from council.methods import Method
from council.pipeline.run import Collect, plug_in
from council.research.methods import multiple_evidence, worst_first

# Each method, with what it does between the draw and the count; None asks for the ballots alone.
RESEARCH_METHODS: tuple[tuple[Method, Collect | None], ...] = (
    (multiple_evidence.MULTIPLE_EVIDENCE, None),
    (worst_first.WORST_FIRST, None),
)


def plug_in_all() -> None:
    """Make every research method known."""
    for method, collect in RESEARCH_METHODS:
        plug_in(method, collect)
