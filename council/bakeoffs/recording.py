"""From a closed round to what is kept of it for leaderboards."""

from council.bakeoffs.bakeoff import Bakeoff
from council.bakeoffs.records import Record
from council.rounds import Round


def record_of(round_: Round, bakeoff: Bakeoff | None = None) -> Record:
    """Give the numbers of a closed round; one that failed has absences and costs, no shares."""
    raise NotImplementedError
