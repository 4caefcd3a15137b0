"""What a round of each method finds among strongly biased judges, against the targets.

    python -m tests.bench.methods [--rounds 20000]

Judges and answers are simulated as by `council simulate --bias strong`; all methods see the same
answers, and both orders begin with the ballots of blind ranking. τ is Kendall's τ_b between a
round's result and the true order. The exit code is 1 if a target is missed.

Grading is simulated apart: judges without biases have a distribution over the grades 1 to 5, and
its mean is compared with its likeliest grade.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from council.bakeoffs.intervals import Interval, mean_interval
from council.bakeoffs.record_arrays import PRECISION, Floats
from council.research.judge_weights import RoundShares, weighted_shares
from council.research.simulated_judges import (
    FAIR,
    STRONG,
    SimulatedRounds,
    cast_votes,
    simulated_rounds,
    uniform_panel,
)

MEMBERS = (4, 5, 6, 8)
OUTSIDE = 3
ROUNDS = 20_000
SPREADS = (1.0, 0.5, 0.25)  # grades between answers that are a standard deviation apart
SEED = "methods"
# What a method must gain over blind ranking, by members.
BOTH_ORDERS = dict.fromkeys(MEMBERS, 0.03)
PANEL_OF_JUDGES = {4: 0.05, 5: 0.05, 6: 0.02, 8: 0.02}


@dataclass(frozen=True)
class Gain:
    """A method's mean τ, and what it gains over blind ranking with a paired 95 % interval."""

    members: int
    method: str
    tau: float
    gain: float
    interval: Interval
    target: float | None = None

    @property
    def is_missed(self) -> bool:
        return self.target is not None and self.gain < self.target


def shares_by_round(shares: Floats) -> Floats:
    """Return the official share of each answer, from Borda shares by (round, judge, member)."""
    rounds, judges, members = shares.shape
    names = tuple(f"{i}" for i in range(judges))
    given = RoundShares(
        tuple(map(str, range(rounds))), names, names, tuple(map(str, range(members))), shares
    )
    return weighted_shares(given, np.ones(judges))


def taus(shares: Floats, worth: Floats) -> Floats:
    """Return τ_b by round between results and worth without ties; 0 where all answers tie."""
    one, other = np.triu_indices(worth.shape[1], 1)
    lead = shares[:, one] - shares[:, other]
    signs = np.where(np.abs(lead) < PRECISION, 0.0, np.sign(lead))
    concord = (signs * np.sign(worth[:, one] - worth[:, other])).sum(axis=1)
    untied = np.abs(signs).sum(axis=1) * len(one)
    return np.where(untied > 0, concord / np.sqrt(np.maximum(untied, 1.0)), 0.0)


def outside_shares(rounds: SimulatedRounds, noise: float) -> Floats:
    """Return the shares of three judges without any bias, who wrote none of the answers."""
    panel = uniform_panel(len(rounds.panel.makers), replace(FAIR, noise=noise))
    members = len(panel.makers)
    # Without biases neither the order nor who judges makes a difference.
    shown = np.broadcast_to(np.arange(members), (len(rounds.labels), members, members))
    votes = cast_votes(panel, rounds.answers, shown, np.random.RandomState(members))
    return votes.by_member(members)[:, :OUTSIDE]


def gains(members: int, rounds: int) -> Iterator[Gain]:
    """Yield what each method finds on a panel of strongly biased members."""
    simulated = simulated_rounds(uniform_panel(members, STRONG), rounds, SEED)
    worth, first = simulated.answers.worth, simulated.counted
    again = cast_votes(
        simulated.panel,
        simulated.answers,
        first.shown[:, :, ::-1],
        np.random.RandomState(members),
    )
    blind = first.by_member(members)
    base = taus(shares_by_round(blind), worth)
    yield _gain(members, "blind-ranking", base, base)
    both = (blind + again.by_member(members)) / 2
    found = taus(shares_by_round(both), worth)
    yield _gain(members, "both-orders", found, base, BOTH_ORDERS[members])
    for noise, target in ((FAIR.noise, PANEL_OF_JUDGES[members]), (STRONG.noise, None)):
        found = taus(shares_by_round(outside_shares(simulated, noise)), worth)
        name = f"panel-of-judges, {OUTSIDE} unbiased, noise {noise:g}"
        yield _gain(members, name, found, base, target)


def graded_shares(rounds: SimulatedRounds, spread: float) -> tuple[Floats, Floats]:
    """Return the shares of likeliest and of mean grades, by judges without biases.

    An answer of mean worth as a judge sees it, with FAIR's noise, is a 3, and `spread` more for
    each standard deviation. The probability of a grade k is that of a normal distribution around
    this at k, of standard deviation 1, divided by the sum over all five.
    """
    worth, grades = rounds.answers.worth, np.arange(1, 6)
    members = worth.shape[1]
    noise = np.random.RandomState(members).normal(0, FAIR.noise, (len(worth), members, members))
    seen = 3 + spread * (worth[:, None, :] + noise)
    odds = np.exp(-((grades - seen[..., None]) ** 2) / 2)
    odds /= odds.sum(axis=-1, keepdims=True)
    likeliest, means = grades[odds.argmax(axis=-1)].astype(float), (odds * grades).sum(axis=-1)
    return _borda(likeliest), _borda(means)


def _borda(grades: Floats) -> Floats:
    """Return shares of grades by (round, judge, member); nobody grades its own answer."""
    members = grades.shape[2]
    lead = grades[..., :, None] - grades[..., None, :]
    beaten = np.where(np.abs(lead) < PRECISION, 0.5, lead > 0)
    own = np.eye(members, dtype=bool)
    beaten = np.where(own[:, None, :] | own[None, :, :], 0, beaten)
    shares: Floats = beaten.sum(axis=-1) / (members - 2)
    shares[:, own] = np.nan
    return shares


def grading_gains(members: int, rounds: int) -> Iterator[Gain]:
    """Yield what mean grades gain over likeliest ones, by judges who spread them more or less."""
    simulated = simulated_rounds(uniform_panel(members, FAIR), rounds, SEED)
    for spread in SPREADS:
        shares = graded_shares(simulated, spread)
        base, found = (taus(shares_by_round(one), simulated.answers.worth) for one in shares)
        yield _gain(members, f"grading, mean over likeliest, spread {spread:g}", found, base)


def _gain(
    members: int, method: str, found: Floats, base: Floats, target: float | None = None
) -> Gain:
    gained = found - base
    interval = mean_interval(gained) if gained.any() else (0.0, 0.0)
    return Gain(members, method, float(found.mean()), float(gained.mean()), interval, target)


def main() -> int:
    """Print the table; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    print(f"{'members':>7}  {'method':41} {'τ':>6} {'gain':>7}  {'95 % interval':18} target")
    missed = False
    kinds = (gains, grading_gains)
    for gain in (one for find in kinds for members in MEMBERS for one in find(members, rounds)):
        low, high = gain.interval
        target = "" if gain.target is None else f"{gain.target:+.2f}"
        print(
            f"{gain.members:7}  {gain.method:41} {gain.tau:6.3f} {gain.gain:+7.3f}  "
            f"[{low:+.3f}, {high:+.3f}]   {target}{'  MISSED' if gain.is_missed else ''}",
            flush=True,
        )
        missed |= gain.is_missed
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
