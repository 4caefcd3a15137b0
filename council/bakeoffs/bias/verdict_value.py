"""Value of a verdict: how often people and grades agreed with the first place, by its strength."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from council.bakeoffs.bias.report import Effect, VerdictValue
from council.bakeoffs.intervals import wilson_interval
from council.bakeoffs.record_arrays import Columns
from council.bakeoffs.records import STRENGTHS
from council.feedback import HumanVote
from council.tally.verdict import Strength

PEOPLE, GRADES = "people", "grades"
ROUNDS = "rounds"


def rate_effect(hits: int, n: int) -> Effect:
    """Return a rate over rounds with Wilson's interval, without a test."""
    return Effect(n, ROUNDS, hits / n, wilson_interval(hits, n)) if n else Effect(0, ROUNDS)


def preferred_answers(votes: Iterable[HumanVote]) -> dict[str, str]:
    """Return the author whose answer most people voted the best, by round.

    Only votes that calibrate judges count; a round in which two answers share the lead is left out.
    """
    counts = defaultdict[str, Counter[str]](Counter)
    for vote in votes:
        if vote.calibrates:
            counts[vote.round_id][vote.member] += 1
    leading = {round_id: count.most_common(2) for round_id, count in counts.items()}
    return {
        round_id: first
        for round_id, ((first, most), *others) in leading.items()
        if not others or others[0][1] < most
    }


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Whether the first answer of a round was the best one, and its chance if drawn at random."""

    source: str
    strength: Strength
    is_sure: bool
    agreed: bool
    chance: float


def verdict_values(columns: Columns, preferred: Mapping[str, str]) -> tuple[VerdictValue, ...]:
    """Return how often people and grades agreed with the first place, by strength.

    People agree where most prefer its answer. Grades agree where it is right; rounds in which all
    graded answers are right, or all wrong, tell nothing and are left out.
    """
    groups = defaultdict[tuple[str, bool, str], list[_Outcome]](list)
    for outcome in _outcomes(columns, preferred):
        groups[outcome.strength, outcome.is_sure, outcome.source].append(outcome)
    return tuple(
        VerdictValue(
            strength=strength.value,
            is_sure=is_sure,
            source=source,
            agreed=rate_effect(sum(one.agreed for one in group), len(group)),
            chance=float(np.mean([one.chance for one in group])),
        )
        for strength in STRENGTHS
        for is_sure in (True, False)
        for source in (PEOPLE, GRADES)
        if (group := groups.get((strength, is_sure, source)))
    )


def _outcomes(columns: Columns, preferred: Mapping[str, str]) -> Iterator[_Outcome]:
    winners, strengths = columns.round("winner"), columns.round("strength")
    sure, correct = columns.round("is_sure"), columns.author("correct")
    ranked = (~np.isnan(columns.author("share"))).sum(axis=1)
    for i in np.flatnonzero(~np.isnan(winners) & ~np.isnan(strengths)).tolist():
        winner, strength = int(winners[i]), STRENGTHS[int(strengths[i])]
        is_sure, best = bool(sure[i]), preferred.get(columns.rows[i].round_id)
        if best is not None:
            agreed = best == columns.members[winner]
            yield _Outcome(PEOPLE, strength, is_sure, agreed, 1 / max(1, int(ranked[i])))
        known = correct[i, ~np.isnan(correct[i])]
        if not np.isnan(correct[i, winner]) and 0 < known.sum() < len(known):
            right = bool(correct[i, winner])
            yield _Outcome(GRADES, strength, is_sure, right, float(known.mean()))
