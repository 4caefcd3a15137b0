"""How often a verdict calls equal answers clear, and what the rule of shared errors costs.

    python -m tests.bench.verdict [--rounds 5000]

Every row is a kind of judge; its answers are all worth the same, so each claim is false. A claim is
"clear", or "unanimous" with p ≤ .05. The limits are those of docs/method.md, plus two standard
errors. The last rows are the power: how often an answer that is better by one standard deviation is
claimed, under the rule and under that of independent judges.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from time import perf_counter

import numpy as np

from council.ballots import Ballot
from council.labels import Label, draw_labels, draw_slates
from council.tally.borda import standings
from council.tally.chance import (
    DEFAULT_RULE,
    INDEPENDENT,
    ChanceRule,
    NullDistribution,
    null_distribution,
)
from council.tally.verdict import CLEAR_P, Strength, classify_strength

SEATS = (5, 6, 8)
BASE = ChanceRule(INDEPENDENT, 0.0)


@dataclass(frozen=True)
class Judges:
    """A kind of judges: the parts of what each sees in an answer, in standard deviations."""

    name: str
    limit: float | None = 0.05
    shared: float = 0.0  # the error that all judges share, as a part of their own
    position: float = 0.0
    length: float = 0.0  # a taste of every judge
    family: float = 0.0  # what three seats of one maker gain from each other
    better: float = 0.0  # the worth of the first member's answer over the others'


KINDS = (
    Judges("independent"),
    Judges("errors shared, .35 of their own", shared=0.35),
    Judges("mild biases", position=0.5, length=0.1, shared=0.2),
    Judges("strong biases", position=2.0, length=0.2, shared=0.2),
    Judges("three seats of one family", limit=0.08, family=0.5),
    Judges("a shared taste for length", limit=0.08, length=0.4),
    Judges("power: one answer better by 1", limit=None, better=1.0),
)


def views(kind: Judges, seats: int, rng: np.random.RandomState) -> np.ndarray:
    """Return what each judge sees in each answer of a round: (judge, answer)."""
    seen = rng.standard_normal((seats, seats))
    seen += kind.shared * rng.standard_normal(seats)
    seen += kind.length * rng.standard_normal(seats)
    seen[:3, :3] += kind.family
    seen[:, 0] += kind.better
    return seen


def claims(kind: Judges, seats: int, rounds: int) -> dict[str, float]:
    """Return the share of rounds with a claim, under the rule and under independent judges."""
    rng = np.random.RandomState(seats)
    members = tuple(f"m{i}" for i in range(seats))
    found = dict.fromkeys(("rule", "independent"), 0)
    nulls = dict[str, NullDistribution]()
    for number in range(rounds):
        seed = f"{kind.name} {seats} {number}"
        labels = draw_labels(members, seed)
        seen = views(kind, seats, rng)
        ballots = [
            rank(kind, labels.author_of, slate.judge, slate.shown, seen, members)
            for slate in draw_slates(labels, (), seed)
        ]
        lines = standings(labels.labels, ballots)
        if not nulls:
            shown = [ballot.shown for ballot in ballots]
            nulls = {
                "rule": null_distribution(shown, seed, DEFAULT_RULE),
                "independent": null_distribution(shown, seed, BASE),
            }
        for name, null in nulls.items():
            p = null.p_value(lines[0].share or 0.0)
            strength = classify_strength(lines, ballots, p)
            found[name] += p <= CLEAR_P and strength in {Strength.CLEAR, Strength.UNANIMOUS}
    return {name: count / rounds for name, count in found.items()}


def rank(
    kind: Judges,
    author_of: Callable[[Label], str],
    judge: str,
    shown: tuple[Label, ...],
    seen: np.ndarray,
    members: tuple[str, ...],
) -> Ballot:
    """Return the ballot of one judge on its slate."""
    row = seen[members.index(judge)]
    slots = len(shown) - 1
    worth = {
        label: row[members.index(author_of(label))] + kind.position * (0.5 - slot / slots)
        for slot, label in enumerate(shown)
    }
    return Ballot(judge, shown, tuple((label,) for label in sorted(shown, key=lambda x: -worth[x])))


def main() -> None:
    """Print the table; exit with 1 if a claim is false too often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5_000)
    rounds = parser.parse_args().rounds
    print(f"{'judges':34} {'seats':>5} {'claimed':>8} {'limit':>6} {'independent rule':>17}")
    broken = False
    for kind in KINDS:
        for seats in SEATS:
            found = claims(kind, seats, rounds)
            most = (
                None
                if kind.limit is None
                else kind.limit + 2 * sqrt(kind.limit * (1 - kind.limit) / rounds)
            )
            over = most is not None and found["rule"] > most
            broken |= over
            limit = "" if most is None else f"{most:.3f}"
            row = f"{kind.name:34} {seats:5} {found['rule']:8.3f} {limit:>6}"
            print(f"{row} {found['independent']:17.3f}{'  OVER' if over else ''}", flush=True)
    print_times()
    sys.exit(broken)


def print_times() -> None:
    """Print what the p of a round costs, first and again."""
    labels = tuple(Label(x) for x in "ABCDEFGH")
    slates = [tuple(x for x in labels if x != own) for own in labels]
    for name in ("first", "again"):
        start = perf_counter()
        null_distribution(slates, "", ChanceRule(rho=0.1)).p_value(0.9)
        print(f"p of eight judges, {name}: {1000 * (perf_counter() - start):.2f} ms")


if __name__ == "__main__":
    main()
