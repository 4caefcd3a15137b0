"""Builders of rounds from Borda shares."""

from collections.abc import Sequence

import numpy as np

from council.research.judge_weights import RoundShares

JUDGES = ("ada", "bob", "cyd", "dee")
X = float("nan")

# Method §3.6: A: B>C>D; B: A>(C=D); C: A, the rest unranked; D: B>A>C.
E1 = ((X, 1, 0.5, 0), (1, X, 0.25, 0.25), (1, 0.25, X, 0.25), (0.5, 1, 0, X))


def given(
    *rounds: Sequence[Sequence[float]],
    judges: Sequence[str] = JUDGES,
    makers: Sequence[str] = (),
    members: Sequence[str] = JUDGES,
) -> RoundShares:
    """Return rounds r0, r1, …, each with a row of shares per judge."""
    names = tuple(f"r{i}" for i in range(len(rounds)))
    shares = np.array(rounds, dtype=float).reshape(len(rounds), len(judges), len(members))
    return RoundShares(names, tuple(judges), tuple(makers or judges), tuple(members), shares)
