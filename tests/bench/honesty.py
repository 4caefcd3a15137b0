"""How honest and how strong the boards' claims are, by simulation, for docs/research/method.md.

python -m tests.bench.honesty [runs]
"""

import sys
from dataclasses import replace

import numpy as np

from council.bakeoffs.changes import compare_with_past
from council.bakeoffs.pairwise import HORIZON, crossings
from council.bakeoffs.record_arrays import Floats
from tests.council.bakeoffs.record_builders import drawn_ballots, gap_worth, margins
from tests.council.bakeoffs.simulated_runs import Drawn, drawn_runs, drawn_series, run_and_past

RUNS = 4_000
GAP = 0.10
FALL = 0.15
MEMBERS = range(4, 9)
AGREEMENTS = (0.0, 0.1, 0.2, 0.3, 0.5)


def _drawn(members: int, agreement: float, gap: float, runs: int) -> Floats:
    theta = gap_worth(gap, members)
    rng = np.random.default_rng(5)
    parts = []
    for _ in range(0, runs, 500):
        worth = np.zeros((500, HORIZON, members))
        worth[..., 0], worth[..., 1] = theta, -theta
        parts.append(margins(drawn_ballots(rng, worth, agreement=agreement)))
    return np.concatenate(parts)


def _tau(agreement: float) -> float:
    """Return the mean τ_b of judges whose views of an answer correlate this much."""
    return float(2 / np.pi * np.arcsin(agreement))


def _changes(runs: int) -> None:
    print(f"\n{runs} series of runs; how often a fall of {FALL} is posted, and a change of nothing")
    print("members  questions  runs before  false  fall posted  posted in four runs")
    for members in (5, 6):
        for questions in (12, 24, 48):
            for past in (1, 2, 4, 8):
                rng = np.random.default_rng(7)
                equal = Drawn(members, questions, past)
                fallen = replace(equal, fall=FALL)
                false = np.mean(
                    [compare_with_past(*drawn_runs(rng, equal)).is_news for _ in range(runs)]
                )
                posted = np.array([_posted(rng, fallen) for _ in range(runs)])
                print(
                    f"{members:7}  {questions:9}  {past:11}  {false:5.3f}"
                    f"  {posted[:, 0].mean():11.3f}  {posted.any(axis=1).mean():19.3f}",
                    flush=True,
                )


def _posted(rng: np.random.Generator, drawn: Drawn) -> list[bool]:
    """Return for each of four runs after a fall whether it is reported then."""
    series = drawn_series(rng, drawn, fallen=4)
    found = (compare_with_past(*run_and_past(series, drawn.past + i)) for i in range(4))
    return [bool(each.worse("ada")) for each in found]


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    _claims(runs)
    _changes(runs // 10)


def _claims(runs: int) -> None:
    print(f"{runs} boards each, {HORIZON} looks; power for a gap of {GAP} in share")
    print("members  part alike  tau_b  sd of margin  false claims  power  fixed test's power")
    for members in MEMBERS:
        for agreement in AGREEMENTS:
            null = _drawn(members, agreement, 0.0, runs)
            ahead = _drawn(members, agreement, GAP, runs)
            false = (crossings(null) != 0).any(axis=-1).mean()
            crossed = crossings(ahead)
            power = ((crossed > 0).any(axis=-1) & ~(crossed < 0).any(axis=-1)).mean()
            fixed = ahead.sum(axis=-1) / np.sqrt((ahead**2).sum(axis=-1))
            print(
                f"{members:7}  {agreement:10.1f}  {_tau(agreement):5.2f}  {null.std():12.3f}"
                f"  {false:12.3f}  {power:5.3f}  {(fixed > 1.96).mean():18.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
