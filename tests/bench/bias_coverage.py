"""How often intervals of the report of bias hold what was planted in simulated judges.

Every round is audited. What is planted is a taste in units of a judge's noise. What it comes to in
the report's units is found by very many rounds: for self-preference by what the same judges, with
the same noise, give their own answers without it; for the others by the measure itself.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from council.bakeoffs.bias.effects import mean_effect
from council.bakeoffs.bias.judge_bias import own_preference
from council.bakeoffs.bias.report import Effect
from council.bakeoffs.bias.style_bias import style_preferences
from council.bakeoffs.bias.vote_arrays import Block
from tests.council.bakeoffs.bias.simulated_blocks import Planted, simulated

PLANTED = Planted(own=1.0, first=1.0, letter=0.7, length=0.5, bold=0.4)
TASTES = ("own", "first", "letter", "length", "bold")
MANY = 20_000
Kinds = Mapping[str, Mapping[str, Effect]]


def stronger(times: float) -> Planted:
    """Return the usual biases, `times` as strong."""
    return replace(PLANTED, **{name: times * getattr(PLANTED, name) for name in TASTES})


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of so many intervals of a measure, how many hold what was planted, and how they come out."""

    measure: str
    planted: float
    intervals: int
    held: int
    mean: float
    found: int

    def __str__(self) -> str:
        shares = (self.planted, self.mean, self.held / self.intervals, self.found / self.intervals)
        cells = "".join(f"{share:>12.3f}" for share in shares)
        return f"{self.measure:>12}{cells}{self.intervals:>12}"


def slot_effects(block: Block, slot: int) -> Mapping[str, Effect]:
    """Return by judge the mean share minus ½ of the answer it saw at a slot."""
    return {
        judge: mean_effect(block.shares[:, j][block.slots[:, j] == slot] - 0.5, "ballots")
        for j, judge in enumerate(block.judges)
    }


def effects(rounds: int, planted: Planted, seed: int, members: int) -> Kinds:
    """Return by measure and judge what the report says of rounds with these biases."""
    blocks = [simulated(rounds, planted, seed, members)]
    fond = style_preferences(blocks)
    return {
        "own": own_preference(blocks),
        "first slot": slot_effects(blocks[0], 1),
        "letter C": slot_effects(blocks[0], 3) if members > 3 else {},
        "length": {judge: one.length for judge, one in fond.items()},
        "bold": {judge: one.style["bold"] for judge, one in fond.items()},
    }


def truth(
    planted: Planted, members: int, rounds: int = MANY, times: int = 5
) -> dict[str, dict[str, float]]:
    """Return what was planted in the report's units, by measure and judge."""
    found: dict[str, dict[str, list[float]]] = {}
    for seed in range(times):
        with_, without = (
            effects(rounds, each, 10_000 + seed, members)
            for each in (planted, replace(planted, own=0.0))
        )
        for measure, by_judge in with_.items():
            for judge, effect in by_judge.items():
                base = without[measure][judge].value if measure == "own" else 0.0
                value = (effect.value or 0.0) - (base or 0.0)
                found.setdefault(measure, {}).setdefault(judge, []).append(value)
    return {
        measure: {judge: float(np.mean(values)) for judge, values in by_judge.items()}
        for measure, by_judge in found.items()
    }


def coverage(
    planted: Planted, rounds: int, trials: int, members: int = 5, times: int = 5
) -> list[Coverage]:
    """Return the coverage of each measure over `trials` of `rounds` rounds, all of them audited.

    What was planted is measured `times` over.
    """
    true = truth(planted, members, times=times)
    seen: dict[str, list[tuple[bool, float, bool]]] = {}
    for trial in range(trials):
        for measure, by_judge in effects(rounds, planted, trial, members).items():
            for judge, effect in by_judge.items():
                if effect.interval is None or effect.value is None:
                    continue
                low, high = effect.interval
                held = low <= true[measure][judge] <= high
                seen.setdefault(measure, []).append((held, effect.value, not low <= 0 <= high))
    return [
        Coverage(
            measure,
            float(np.mean([*true[measure].values()])),
            len(each),
            sum(held for held, _, _ in each),
            float(np.mean([value for _, value, _ in each])),
            sum(found for _, _, found in each),
        )
        for measure, each in seen.items()
        if each
    ]


COLUMNS = ("measure", "planted", "mean", "held", "seen", "intervals")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.bias_coverage", description=__doc__
    )
    parser.add_argument("--rounds", type=int, nargs="+", default=[60, 150, 400, 1_000])
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--members", type=int, default=5)
    parser.add_argument("--times", type=float, default=1.0, help="as strong as planted usually")
    wanted = parser.parse_args()
    planted = stronger(wanted.times)
    for rounds in wanted.rounds:
        print(f"\n{rounds} rounds, {wanted.members} members, {wanted.trials} trials, {planted}")
        print("".join(f"{name:>12}" for name in COLUMNS))
        for line in coverage(planted, rounds, wanted.trials, wanted.members):
            print(line)


if __name__ == "__main__":
    main()
