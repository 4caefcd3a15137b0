"""Block Kit payloads drawn roughly as Slack's client shows them: for pictures only."""

from tests.bench.blockkit.drawing import Line, Screen, drawn
from tests.bench.blockkit.thinning import thinned

__all__ = ["Line", "Screen", "drawn", "thinned"]
