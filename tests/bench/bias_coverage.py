"""How often intervals of the report of bias hold what was planted in simulated judges.

Every round is audited. A judge's taste is in units of its noise; what it comes to in the report's
units is found by very many rounds.
"""

import argparse

from tests.council.bias.recovery import coverage, stronger

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
