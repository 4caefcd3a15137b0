"""Simulate suites in which votes and grades disagree: does the headline name the right model?

Run by `make bench`. Exit with 1 if a target is missed: with a clear difference the headline names
the right model in every suite; with none it says that none is shown in at least .95 − 2 se of them.
"""

import sys
from math import sqrt

import numpy as np

from bot.bakeoffs.leaderboard import LeaderboardQuery, count_records
from bot.bakeoffs.render.headline import headline
from council.bakeoffs.record_arrays import pack_record
from tests.council.bakeoffs.record_builders import NAMES, a_record

SUITES, QUESTIONS, MODELS = 200, 48, 5
CLEAR, EQUAL = (0.95, 0.5, 0.5, 0.5, 0.5), (0.8,) * MODELS
VOTED_FOR = 1  # the judges prefer this model, which is no better than the others
FEWEST = 0.95 - 2 * sqrt(0.95 * 0.05 / SUITES)


def said(rng: np.random.Generator, chances: tuple[float, ...]) -> str:
    """Return the headline of a suite in which each model is right as often as its chance says."""
    members = NAMES[:MODELS]
    records = []
    for number in range(1, QUESTIONS + 1):
        shares = rng.uniform(0, 0.6, MODELS)
        shares[VOTED_FOR] = 0.95
        right = rng.random(MODELS) < chances
        records.append(
            a_record(
                dict(zip(members, shares.tolist(), strict=True)),
                number=number,
                correct=dict(zip(members, right.tolist(), strict=True)),
            )
        )
    board = count_records([*map(pack_record, records)], LeaderboardQuery("sql"), {})
    return headline(board)


def main() -> None:
    """Print how often the headline is right."""
    rng = np.random.default_rng(20261127)
    found = [said(rng, CLEAR) for _ in range(SUITES)]
    clear = sum(f"{NAMES[0]} leads with" in one or f": {NAMES[0]} has" in one for one in found)
    claimed = sum("leads with" in one for one in found)
    none = sum(said(rng, EQUAL).startswith("No difference shown") for _ in range(SUITES))
    print(f"{QUESTIONS} questions, {MODELS} models; the judges prefer a model that is no better.")
    print(f"95 % right against 50 %: the headline names the right model in {clear} of {SUITES}.")
    print(f"It says that the lead is unlikely to be chance in {claimed} of them.")
    print(f"All 80 % right: “No difference shown” in {none} of {SUITES} (at least {FEWEST:.1%}).")
    sys.exit(clear < SUITES or none < FEWEST * SUITES)


if __name__ == "__main__":
    main()
