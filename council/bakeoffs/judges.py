"""The leaderboard of judges: how members vote, apart from how they write."""

from dataclasses import dataclass

from council.bakeoffs.columns import Columns
from council.bakeoffs.intervals import Interval


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """How a seat fared as a judge over the `rounds` in which it was asked for a ballot.

    `agreement` is its mean τ_b with the other judges, −1 to 1. `spoiled_rate` is of all ballots it
    sent that were to count, `spoiled` of `spoiled + valid`. `position` is the mean share it gave
    to whatever it saw first, less ½; `is_position_biased` where that is beyond ±.06 and beyond
    chance. `kept` of `pairs` stood as before when it ranked the same answers again. Everything is
    None where too little is known; `cost_usd` is for one valid ballot, spoiled ones paid for.
    """

    judge: str
    rounds: int
    valid: int
    spoiled: int
    spoiled_rate: float | None
    agreement: float | None
    agreement_ci: Interval | None
    position: float | None
    position_ci: Interval | None
    is_position_biased: bool
    kept: int
    pairs: int
    consistency: float | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class JudgeBoard:
    """Judges, the one that agrees most with the others first; who never voted comes last."""

    rows: tuple[JudgeLine, ...]
    rounds: int


def judge_board(columns: Columns) -> JudgeBoard:
    """Give the leaderboard of these rounds' judges."""
    raise NotImplementedError
