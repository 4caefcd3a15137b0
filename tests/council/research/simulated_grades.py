"""Simulated judges with planted biases, and how often intervals hold what was planted."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from council.research.grades import Framing, Grade, build_grade_report

JUDGES = "abcd"
QUALITY = {"a": 0.3, "b": 0.0, "c": 0.2, "d": -0.2}
STRICT = {"c": 0.5}


@dataclass(frozen=True, slots=True)
class Held:
    """How often the interval covered the planted preference, and how often one was found."""

    covered: float
    found: float
    false: float


def grades(own: float, items: int, chance: random.Random) -> Iterator[Grade]:
    """Return grades with the planted expectation; fractions are rounded at random."""
    for item in range(items):
        hard = chance.uniform(-0.5, 0.5)
        for judge in JUDGES:
            for author in JUDGES:
                mean = 2.8 + hard + QUALITY[author] - STRICT.get(judge, 0)
                mean += own if judge == author == "a" else 0
                yield Grade(str(item), Framing.POSITIVE, judge, author, int(mean + chance.random()))


def measured(own: float, items: int, trials: int, seed: int = 11) -> Held:
    """Simulate experiments and return how well the intervals hold."""
    chance = random.Random(seed)
    covered = found = false = 0
    for _ in range(trials):
        rows = build_grade_report([*grades(own, items, chance)]).rows
        low, high = rows[0].preference.effect.interval or (0.0, 0.0)
        covered += low <= own <= high
        found += rows[0].preference.effect.is_found
        false += any(row.preference.effect.is_found for row in rows[1:])
    return Held(covered / trials, found / trials, false / trials)
