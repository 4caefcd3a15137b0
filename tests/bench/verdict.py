"""How often a verdict calls equal answers clear, and how often it finds a better one, by rule.

    python -m tests.bench.verdict [--rounds 5000]

The first table has judges whose answers are all worth the same, so each claim is false: "clear", or
"unanimous" with p ≤ .05. The limits are those of docs/research/method.md, plus two standard
errors. The second table says how often an answer that is better by 1, 1.5 or 2 standard deviations
of a judge's noise is claimed. Under rules 1 and 2 an outside judge ranks once, under rule 3 in both
orders. The exit code is 1 if a claim is false too often, or a better answer found too seldom.
"""

import argparse
import sys
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt
from time import perf_counter
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from council.ballots import Ballot
from council.labels import Label, Slate, draw_labels, draw_slates, reverse_slates
from council.tally.borda import standings
from council.tally.chance import NullDistribution, null_distribution, pair_weights
from council.tally.chance_rule import INDEPENDENT, SHARED_ERRORS, ChanceRule
from council.tally.verdict import CLEAR_P, Strength, classify_strength, count_ballots

Floats = NDArray[np.float64]

SEATS = range(3, 9)
OUTSIDE = (0, 1)
RULES = (ChanceRule(INDEPENDENT, 0.0), ChanceRule(SHARED_ERRORS, 0.15), ChanceRule())
SHARED = 0.24  # what judges' errors correlate by on answers that people call equal
PASS_PART = 0.5  # of a judge's own error, where it ranks in both orders
BETTER = (1.0, 1.5, 2.0)
# The least power under rule 3 of five seats and an outside judge, whose errors correlate by .25.
LEAST_POWER = dict(zip(BETTER, (0.12, 0.26, 0.46), strict=True))


@dataclass(frozen=True)
class Judges:
    """A kind of judges: the parts of what each sees in an answer, in standard deviations."""

    name: str
    limit: float | None = 0.05
    rho: float = SHARED  # the correlation of their errors
    position: float = 0.0
    length: float = 0.0  # a taste of every judge
    family: float = 0.0  # what three seats of one maker gain from each other
    better: float = 0.0  # the worth of the first member's answer over the others'


KINDS = (
    Judges("independent", rho=0.0),
    Judges(f"errors shared, a correlation of {SHARED:g}"),
    Judges("mild biases", position=0.5, length=0.1),
    Judges("strong biases", position=2.0, length=0.2),
    Judges("three seats of one family", limit=0.08, family=0.5),
    Judges("a shared taste for length", limit=0.08, rho=0.0, length=0.4),
    Judges(f"the same, on top of {SHARED:g}", limit=None, length=0.4),
)


@cache
def drawn_slates(seats: int, outside: int, rounds: int) -> tuple[tuple[Slate, ...], ...]:
    """Return the slates of rounds whose labels are the numbers of members, in both orders."""
    found = []
    for number in range(rounds):
        labels = draw_labels([*map(str, range(seats))], f"verdict {seats} {number}")
        judges = [f"outside {i}" for i in range(outside)]
        drawn = draw_slates(labels, judges, f"verdict {seats} {number}")
        authors = {label: Label(author) for author, label in labels.pairs}
        slates = (replace(x, shown=tuple(authors[label] for label in x.shown)) for x in drawn)
        found.append(reverse_slates([*slates], judges))
    return tuple(found)


def slots(seats: int, outside: int, rounds: int) -> Floats:
    """Return where each slate shows each answer, 0 to 1, else NaN: (slate, answer, round)."""
    found = np.full((seats + 2 * outside, seats, rounds), np.nan)
    for number, slates in enumerate(drawn_slates(seats, outside, rounds)):
        for at, slate in enumerate(slates):
            shown = [int(label) for label in slate.shown]
            found[at, shown, number] = np.linspace(0, 1, len(shown))
    return found


def views(kind: Judges, seats: int, outside: int, rounds: int) -> Floats:
    """Return what each judge sees in each answer in each of its passes: (slate, answer, round)."""
    rng = np.random.RandomState(crc32(f"{kind} {seats} {outside}".encode()))
    common = sqrt(kind.rho) * rng.standard_normal((seats, rounds))
    common += kind.length * rng.standard_normal((seats, rounds))
    common[0] += kind.better
    own = rng.standard_normal((seats + 2 * outside, seats, rounds))
    for judge in range(outside):
        at = seats + 2 * judge
        judged = sqrt(PASS_PART) * rng.standard_normal((seats, rounds))
        own[at : at + 2] = judged + sqrt(1 - PASS_PART) * own[at : at + 2]
    seen = common + sqrt(1 - kind.rho) * own
    seen[:3, :3] += kind.family
    return seen + kind.position * (0.5 - slots(seats, outside, rounds))


def shares_and_leads(seen: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the highest share of each round, and its lead over the second."""
    wins = np.zeros((seen.shape[1], *seen.shape[1:]))
    for view, weight in zip(seen, weights, strict=True):
        wins += weight * (view[:, None] > view[None, :])
    # A slate without an answer has NaN there, so nobody wins against it.
    seats = len(wins)
    shown = ~np.isnan(seen[:, :, 0])
    slates = [[*np.flatnonzero(one)] for one in shown]
    gains = pair_weights(slates, [*weights])
    totals = np.einsum("abr,ab->ar", wins, gains)
    second, best = np.partition(totals, (seats - 2, seats - 1), axis=0)[-2:]
    return best, best - second


@cache
def null(seats: int, outside: int, rule: ChanceRule) -> NullDistribution:
    """Return the outcomes by chance of a panel."""
    answers = tuple(Label(str(i)) for i in range(seats))
    slates = [answers[:i] + answers[i + 1 :] for i in range(seats)] + [answers] * outside
    passes = [1] * seats + [2 if rule.reverses_outside else 1] * outside
    return null_distribution(slates, "verdict", rule, passes=passes)


def claims(kind: Judges, seats: int, outside: int, rounds: int) -> list[float]:
    """Return the share of rounds with a claim under each rule: of the better answer, if any is."""
    both = views(kind, seats, outside, rounds)
    once = np.delete(both, range(seats + 1, len(both), 2), axis=0)
    found = []
    for rule in RULES:
        seen = both if rule.reverses_outside else once
        passes = 1 + (rule.reverses_outside * (np.arange(len(seen)) >= seats))
        outcomes = null(seats, outside, rule)
        shares, leads = shares_and_leads(seen, 1 / passes)
        # Few rounds can have a claim, and those are counted by the program.
        keys = np.round(shares + 1j * leads, 9)
        p = {key: outcomes.p_value(key.real, key.imag) for key in np.unique(keys)}
        likely = [number for number, key in enumerate(keys) if p[key] <= CLEAR_P]
        found.append(
            sum(
                is_claim(kind, ballots_of(seen, seats, outside, n, rounds), rule, p[keys[n]])
                for n in likely
            )
            / rounds
        )
    return found


def ballots_of(seen: Floats, seats: int, outside: int, number: int, rounds: int) -> list[Ballot]:
    """Return the ballots of one round."""
    slates = drawn_slates(seats, outside, rounds)[number]
    if len(seen) < len(slates):
        slates = tuple(slate for slate in slates if slate.pass_number == 1)
    return [
        Ballot(
            slate.judge,
            slate.shown,
            tuple((x,) for x in sorted(slate.shown, key=lambda x: -view[int(x), number])),
            pass_number=slate.pass_number,
        )
        for slate, view in zip(slates, seen, strict=True)
    ]


def is_claim(kind: Judges, ballots: list[Ballot], rule: ChanceRule, p: float) -> bool:
    """Return whether the verdict claims a first place; of a better answer, only if it has it."""
    members = sorted({label for ballot in ballots for label in ballot.shown})
    if rule.reverses_outside:
        tally = count_ballots(members, ballots, "", rule)
        lines, strength, p = tally.standings, tally.verdict.strength, tally.verdict.p or 0.0
    else:
        lines = standings(members, ballots)
        strength = classify_strength(lines, ballots, p)
    is_right = not kind.better or lines[0].label == Label("0")
    return is_right and p <= CLEAR_P and strength in {Strength.CLEAR, Strength.UNANIMOUS}


def print_false_claims(rounds: int) -> bool:
    """Print how often equal answers are claimed to differ; return whether that is too often."""
    print(f"{'false claims: judges':36} seats outside  rule 1  rule 2  rule 3   limit")
    broken = False
    for kind in KINDS:
        for seats, outside in ((n, m) for n in SEATS for m in OUTSIDE):
            found, limit = claims(kind, seats, outside, rounds), kind.limit or 0.0
            most = limit + 2 * sqrt(limit * (1 - limit) / rounds)
            over = bool(limit) and found[-1] > most
            broken |= over
            row = "".join(f"{share:8.3f}" for share in found)
            bound = f"{most:8.3f}" if limit else ""
            print(
                f"{kind.name:36} {seats:5} {outside:7}{row}{bound}{'  OVER' if over else ''}",
                flush=True,
            )
    return broken


def print_power(rounds: int) -> bool:
    """Print how often a better answer is claimed; return whether that is too seldom."""
    print(f"\n{'found: better by':36} seats outside  rule 1  rule 2  rule 3   least")
    broken = False
    for rho in (0.15, 0.25):
        for seats, outside, better in ((n, m, x) for n in (5, 8) for m in OUTSIDE for x in BETTER):
            kind = Judges(f"{better:g} sd, a correlation of {rho:g}", rho=rho, better=better)
            found = claims(kind, seats, outside, rounds)
            is_target = (seats, outside, rho) == (5, 1, ChanceRule().rho)
            least = LEAST_POWER[better] if is_target else 0.0
            missed = found[-1] < least
            broken |= missed
            row = "".join(f"{share:8.3f}" for share in found)
            limit = f"{least:8.2f}" if least else ""
            print(
                f"{kind.name:36} {seats:5} {outside:7}{row}{limit}{'  MISSED' if missed else ''}",
                flush=True,
            )
    return broken


def print_times() -> None:
    """Print what a tally costs, first and again."""
    print()
    for seats, outside in ((n, m) for n in (5, 8) for m in OUTSIDE):
        kind = Judges("times")
        seen = views(kind, seats, outside, 1)
        ballots = ballots_of(seen, seats, outside, 0, 1)
        members = sorted({label for ballot in ballots for label in ballot.shown})
        rule = ChanceRule(rho=0.1)  # not in the cache yet
        start = perf_counter()
        count_ballots(members, ballots, "", rule)
        first = perf_counter() - start
        again = []
        for _ in range(100):
            start = perf_counter()
            count_ballots(members, ballots, "", rule)
            again.append(perf_counter() - start)
        print(
            f"a tally of {seats} seats and {outside} outside: first {1000 * first:.0f} ms, "
            f"again {1000 * min(again):.2f} ms"
        )


def main() -> None:
    """Print the tables; exit with 1 if one misses its limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5_000)
    rounds = parser.parse_args().rounds
    broken = print_false_claims(rounds)
    broken |= print_power(rounds)
    print_times()
    sys.exit(broken)


if __name__ == "__main__":
    main()
