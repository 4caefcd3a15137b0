"""Simulated rounds: answers of known worth, the slates they stand on, and the ballots.

    panel = a_panel_of(5, Biases(own=1.0))
    rounds = simulated_rounds(panel, 1_000, "seed")
    rounds.counted.shares        # (rounds, judges, slots): the Borda share each judge gave
    rounds.counted.shown         # (rounds, judges, slots): whose answer stood there
    rounds.own_visible().shares  # the same, on slates that show the own answer too

Every number follows from panel, count and seed. Round i has the labels and slates that the seed
"SEED i" gives a real round.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from council.ballots import Ballot
from council.draws import digest
from council.labels import LabelMap, draw_labels
from council.simulation.panels import SimulatedPanel
from council.simulation.votes import Answers, Votes, voted
from council.slates import Slate, draw_slates

Seats = NDArray[np.intp]

MEAN_TOKENS, TOKENS_SD = 400, 100


@dataclass(frozen=True, slots=True)
class SimulatedRounds:
    """Rounds and the votes of their judges; every judge is a member and votes in every round.

    `answers` say what each answer is worth and how long it is. `counted` are the ballots that
    count; `labels` those of each round.
    """

    panel: SimulatedPanel
    seed: str
    answers: Answers
    labels: tuple[LabelMap, ...]
    counted: Votes

    @property
    def tokens(self) -> NDArray[np.float64]:
        """How long each answer is, in tokens, at least one: a row a round, a column a member."""
        return np.maximum(np.round(MEAN_TOKENS + TOKENS_SD * self.answers.length), 1.0)

    def fixed_order(self) -> Votes:
        """Give votes as rivals have them cast: in panel order for all, own answer and all."""
        count, members = self.answers.worth.shape
        shown = np.broadcast_to(np.arange(members), (count, members, members))
        return self._voted(shown, "fixed order")

    def repeated(self) -> Votes:
        """Give an audit vote of every judge on its slate reversed."""
        return self._voted(self.counted.shown[:, :, ::-1], "order")

    def named(self) -> Votes:
        """Give an audit vote of every judge on its own slate, with names shown."""
        return self._voted(self.counted.shown, "named", named=True)

    def own_visible(self) -> Votes:
        """Give an audit vote of every judge on its slate with its own answer put in somewhere."""
        count, judges, slots = self.counted.shown.shape
        at = _random(self.seed, "own slot").randint(0, slots + 1, (count, judges, 1))
        places = np.arange(slots + 1)
        before = np.minimum(places - (places > at), slots - 1)
        others = np.take_along_axis(self.counted.shown, before, axis=2)
        shown = np.where(places == at, np.arange(judges)[:, None], others)
        return self._voted(shown, "own")

    def ballots(self, votes: Votes, round_: int, audit: str | None = None) -> tuple[Ballot, ...]:
        """Give one round's votes as the ballots the tally counts."""
        return votes.ballots(round_, self.panel.members, self.labels[round_].labels, audit)

    def _voted(self, shown: Seats, purpose: str, *, named: bool = False) -> Votes:
        return voted(self.panel, self.answers, shown, _random(self.seed, purpose), named=named)


def simulated_rounds(
    panel: SimulatedPanel, rounds: int, seed: str, spread: float = 1.0
) -> SimulatedRounds:
    """Give rounds whose answers' worth and length are normal and independent, of deviation 1.

    Worth is around each member's strength, 0 without strengths; a `spread` of 0 makes the answers
    of equal members equal.
    """
    chance = _random(seed, "answers")
    shape = (rounds, len(panel.makers))
    strengths = np.array(panel.strengths or (0.0,) * len(panel.makers))
    worth = strengths + spread * chance.standard_normal(shape)
    answers = Answers(worth, chance.standard_normal(shape))
    seeds = [f"{seed} {i}" for i in range(rounds)]
    labels = tuple(draw_labels(panel.members, one) for one in seeds)
    drawn = (draw_slates(own, (), one) for own, one in zip(labels, seeds, strict=True))
    shown = [_seats(own, slates) for own, slates in zip(labels, drawn, strict=True)]
    seated = np.array(shown, dtype=np.intp).reshape(*shape, len(panel.makers) - 1)
    counted = voted(panel, answers, seated, _random(seed, "ballots"))
    return SimulatedRounds(panel, seed, answers, labels, counted)


def _seats(labels: LabelMap, slates: tuple[Slate, ...]) -> list[list[int]]:
    """Give whose answers each judge sees, in panel order of the judges."""
    seat = {label: i for i, label in enumerate(labels.labels)}
    return [[seat[label] for label in slate.shown] for slate in slates]


def _random(seed: str, purpose: str) -> np.random.RandomState:
    """Give a generator of its own for each purpose; numpy keeps this one's stream for ever."""
    return np.random.RandomState(int(digest(seed, "simulation", purpose)[:8], 16))
