"""Which experiment somebody means."""

from collections.abc import Sequence

from council.errors import ExperimentError
from council.research.experiment import Experiment

LAST = "last"
PREFIX = "bx:"  # of an experiment's id; it may be left out


def meant_experiment(there: Sequence[Experiment], wanted: str) -> Experiment:
    """Give the experiment whose id starts so, or the newest; ExperimentError where none does."""
    if not there:
        raise ExperimentError(
            "No experiment has been held yet: `council bias run SUITE` holds one."
        )
    if wanted.lower() == LAST:
        return there[0]
    found = [one for one in there if one.id.startswith((wanted, f"{PREFIX}{wanted}"))]
    if len(found) != 1:
        several = "Several experiments begin" if found else "No experiment begins"
        raise ExperimentError(f"{several} with {wanted!r}: `council bias list` names them.")
    return found[0]
