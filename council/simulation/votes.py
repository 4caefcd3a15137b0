"""How simulated judges vote: each by what it sees an answer as worth, biases and chance added."""

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from council.ballots import Ballot
from council.labels import Label
from council.simulation.panels import SimulatedPanel

Floats = NDArray[np.float64]
Seats = NDArray[np.intp]

GUMBEL_SD = pi / sqrt(6)
_FAVOURITE = 1  # the slot that has the letter B


@dataclass(frozen=True, slots=True)
class Answers:
    """What answers are worth and how long they are, in deviations: a row a round, then members."""

    worth: Floats
    length: Floats


@dataclass(frozen=True, slots=True)
class Votes:
    """One ballot of each judge in each round, without ties: axes are round, judge and slot.

    `shown` says whose answer stood in the slot, counted from 0 in panel order, and `places` where
    the judge put it, 1 the best.
    """

    shown: Seats
    places: Seats

    @property
    def shares(self) -> Floats:
        """The Borda share each judge gave to what it saw at each slot: last 0, first 1."""
        slots = self.places.shape[2]
        found: Floats = (slots - self.places) / (slots - 1)
        return found

    def by_member(self, members: int) -> Floats:
        """Give shares with a column a member in place of a slot; NaN where it was not shown."""
        found = np.full((*self.shown.shape[:2], members), np.nan)
        np.put_along_axis(found, self.shown, self.shares, axis=2)
        return found

    def ballots(
        self, round_: int, judges: tuple[str, ...], labels: tuple[Label, ...], audit: str | None
    ) -> tuple[Ballot, ...]:
        """Give the ballots of one round; `labels` are those of the members, in panel order."""
        seen, put = self.shown[round_].tolist(), self.places[round_].tolist()
        return tuple(
            Ballot(
                judge,
                tuple(labels[i] for i in shown),
                tuple((labels[i],) for _, i in sorted(zip(places, shown, strict=True))),
                audit=audit,
            )
            for judge, shown, places in zip(judges, seen, put, strict=True)
        )


def voted(
    panel: SimulatedPanel,
    answers: Answers,
    shown: Seats,
    chance: np.random.RandomState,
    *,
    named: bool = False,
) -> Votes:
    """Have every judge vote on its slates, from two slots on.

    A judge orders by worth, biases and Gumbel noise (Luce 1959): without other biases it puts c
    above d with log-odds (worth_c − worth_d)·π/(√6·noise). Without noise the better always wins.
    """
    biases = panel.biases
    size = {name: _column([getattr(one, name) for one in biases]) for name in biases[0].__slots__}
    slots = np.arange(shown.shape[2])
    rows = np.arange(len(shown))[:, None, None]
    makers = np.unique(panel.makers, return_inverse=True)[1]
    judges = np.arange(shown.shape[1])[:, None]
    own = shown == judges
    kin = makers[shown] == makers[judges]
    seen = answers.worth[rows, shown] + size["length"] * answers.length[rows, shown]
    seen = seen + size["position"] * (0.5 - slots / (len(slots) - 1))
    seen = seen + size["letter"] * (slots == _FAVOURITE)
    seen = seen + size["own"] * own + size["family"] * (kin & ~own) + size["brand"] * kin * named
    seen = seen + size["noise"] / GUMBEL_SD * chance.gumbel(size=shown.shape)
    order = np.argsort(-seen, axis=2, kind="stable")
    return Votes(shown, np.argsort(order, axis=2, kind="stable") + 1)


def _column(values: list[float]) -> Floats:
    return np.array(values)[:, None]
