"""How often the intervals of the report on grades hold what was planted in simulated judges.

Four judges grade each other's and their own work in whole grades; one adds to its own, one is
strict, and authors differ in quality. 95 % should hold it.
"""

import sys

from tests.council.research.simulated_grades import measured

TRIALS = 2_000


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    print("planted   items   interval holds it   found   found in another judge")
    for own in (0.0, 0.4, 0.8):
        for items in (10, 30, 100):
            held = measured(own, items, trials)
            print(f"{own:7.1f} {items:7} {held.covered:19.1%} {held.found:7.1%} {held.false:16.1%}")


if __name__ == "__main__":
    main()
