"""How many rounds a leaderboard takes to tell two members apart, and how often it is wrong."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from council.bakeoffs.duels import crossings
from council.simulation.panels import SimulatedPanel
from council.simulation.rounds import simulated_rounds
from council.simulation.votes import Floats

GAPS = (0.0, 0.1, 0.25, 0.5, 1.0)
BOARDS = 1_000
LONGEST = 2_000  # rounds that a board is followed for
POOL = 8_000  # simulated rounds that boards draw theirs from


@dataclass(frozen=True, slots=True)
class Told:
    """What boards say of a first member whose answers are worth `gap` more than the last one's.

    `told` is the share of boards that claim it ahead within the rounds that were asked for,
    `wrong` of those that claim the other one ahead; of no gap, both are wrong. `rounds` is after
    how many half of all boards have claimed it, None where that takes more than two thousand.
    """

    gap: float
    told: float
    wrong: float
    rounds: int | None


def told_apart(panel: SimulatedPanel, rounds: int, seed: str) -> Iterator[Told]:
    """Follow a thousand boards for each gap, their rounds drawn from a pool of simulated ones.

    All members but the first are alike; the pair is judged by the others, as every duel is.
    """
    for gap in GAPS:
        strengths = (gap, *[0.0] * (len(panel.makers) - 1))
        pool = _margins(replace(panel, strengths=strengths), f"{seed} gap {gap}")
        drawn = np.random.RandomState(POOL).choice(pool, (BOARDS, max(rounds, LONGEST)))
        yield _told(gap, crossings(drawn), rounds)


def _margins(panel: SimulatedPanel, seed: str) -> Floats:
    """Give what the judges that are neither make of the first against the last, round by round."""
    given = simulated_rounds(panel, POOL, seed).counted.by_member(len(panel.makers))
    margins: Floats = (given[:, 1:-1, 0] - given[:, 1:-1, -1]).mean(axis=1)
    return margins


def _told(gap: float, crossed: Floats, rounds: int) -> Told:
    ahead, behind = _first(crossed > 0), _first(crossed < 0)
    half = float(np.median(np.where(ahead <= behind, ahead, np.inf)))
    return Told(
        gap=gap,
        told=float(((ahead <= rounds) & (ahead < behind)).mean()),
        wrong=float(((behind <= rounds) & (behind < ahead)).mean()),
        rounds=int(np.ceil(half)) if half <= LONGEST else None,
    )


def _first(crossed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    """Give after how many rounds each board said so for the first time, infinite for never."""
    found: Floats = np.where(crossed.any(axis=1), crossed.argmax(axis=1) + 1.0, np.inf)
    return found
