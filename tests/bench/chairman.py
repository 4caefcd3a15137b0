"""How often a chairman that favours its own answers is found, and how often one that does not.

Each store has rounds of five members and one chairman among them. It draws on answers by their
points and length; its own are better and longer than the others', and it favours them by a factor
of their odds, or what it reads first.
"""

import argparse
import sys
from dataclasses import replace
from math import log

from council.bakeoffs.bias.chairmen import chairman_biases
from tests.council.bakeoffs.bias.simulated_chairmen import Chairman, chaired

FOUND, FALSE = 0.9, 0.05  # at least and at most
FAIR = Chairman()
KINDS = {
    "fair": FAIR,
    "fair, mostly uses one or two": replace(FAIR, usual=-2.4),
    "fair, its answers are much better": replace(FAIR, better=1.5),
    "fair, follows the points closely": replace(FAIR, points=8.0, usual=-4.5),
    "fair, its answers are twice as long": replace(FAIR, longer=log(2)),
    "odds of its own × 2": replace(FAIR, own=log(2)),
    "odds of the first it reads × 3": replace(FAIR, early=log(3)),
}


def found(kind: Chairman, stores: int, rounds: int) -> tuple[float, float]:
    """Return in what share of stores its own answers, and the place of reading, are found."""
    reports = [chairman_biases(chaired(rounds, kind, seed), {})[0] for seed in range(stores)]
    own, early = ([getattr(one, name).is_found for one in reports] for name in ("own", "early"))
    return sum(own) / stores, sum(early) / stores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stores", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    print(f"{options.stores} stores of {options.rounds} rounds: share in which it is found")
    print(f"{'chairman':<38}{'own answer':>12}{'read early':>12}")
    missed = False
    for name, kind in KINDS.items():
        own, early = found(kind, options.stores, options.rounds)
        print(f"{name:<38}{own:>12.2f}{early:>12.2f}", flush=True)
        missed |= own < FOUND if kind.own else own > FALSE
    sys.exit(missed)


if __name__ == "__main__":
    main()
