"""The leaderboard of judges: how members vote, apart from how they write."""

from dataclasses import dataclass

from council.bakeoffs.columns import Columns, Floats
from council.bakeoffs.fields import JUDGED
from council.bakeoffs.intervals import Interval, share_interval
from council.bakeoffs.lines import known_of, mean_of

MOST_POSITION = 0.06  # a mean share this far from ½, for what is seen first, is a fondness


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
    lines = [_line(columns, i) for i in range(len(columns.judges))]
    lines.sort(key=lambda line: (-_merit(line), line.judge))
    return JudgeBoard(tuple(lines), len(columns.rows))


def _merit(line: JudgeLine) -> float:
    return -2.0 if line.agreement is None else line.agreement


def _line(columns: Columns, judge: int) -> JudgeLine:
    def known(field: str) -> Floats:
        values = columns.judged[:, judge, JUDGED.index(field)].astype(float)
        return known_of(values)

    valid, spoiled = int(known("valid").sum()), int(known("spoiled").sum())
    kept, pairs = int(known("kept").sum()), int(known("pairs").sum())
    costs = known("cost_usd")
    agreement, first_slot = known("tau_b"), known("first_slot")
    agreement_ci = _widened(share_interval((agreement + 1) / 2), 2.0, -1.0)
    position_ci = _widened(share_interval(first_slot), 1.0, -0.5)
    position = mean_of(first_slot - 0.5)
    return JudgeLine(
        judge=columns.judges[judge],
        rounds=len(known("valid")),
        valid=valid,
        spoiled=spoiled,
        spoiled_rate=spoiled / (valid + spoiled) if valid + spoiled else None,
        agreement=mean_of(agreement),
        agreement_ci=agreement_ci if len(agreement) else None,
        position=position,
        position_ci=position_ci if len(first_slot) else None,
        is_position_biased=_is_biased(position, position_ci),
        kept=kept,
        pairs=pairs,
        consistency=kept / pairs if pairs else None,
        cost_usd=float(costs.sum()) / valid if valid and len(costs) else None,
    )


def _widened(interval: Interval, factor: float, moved: float) -> Interval:
    low, high = interval
    return low * factor + moved, high * factor + moved


def _is_biased(position: float | None, interval: Interval) -> bool:
    """Say whether a mean is beyond the limit, and its interval leaves 0 out."""
    low, high = interval
    return position is not None and abs(position) > MOST_POSITION and not low <= 0 <= high
