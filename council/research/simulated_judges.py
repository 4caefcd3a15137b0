"""Simulated judges with known biases, and rounds of their ballots."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi, sqrt

import numpy as np

from council.bakeoffs.record_arrays import Floats, Indexes
from council.ballots import Ballot
from council.errors import PanelError
from council.labels import Label, LabelMap, Slate, draw_labels, draw_slates
from council.randomness import digest


@dataclass(frozen=True, slots=True)
class Biases:
    """What a judge adds to an answer's worth, in standard deviations of the worth of answers.

    `position`: what the first slot gains over the last, falling evenly between. `letter`: what the
    answer labelled B gains. `own`: what its own answer gains. `family`: what other answers of its
    maker gain. `length`: what each standard deviation of length gains. `noise`: the standard
    deviation of chance, drawn for each answer on each ballot.
    """

    position: float = 0.0
    letter: float = 0.0
    own: float = 0.0
    family: float = 0.0
    length: float = 0.0
    noise: float = 1.0


FAIR = Biases()
# Five such members in a fixed order, with their own answer shown, reach a τ of about .45.
STRONG = Biases(position=2.0, own=1.0, noise=1.8)
PRESETS: Mapping[str, Biases] = {"none": FAIR, "strong": STRONG}

MIN_MEMBERS, MAX_MEMBERS = 3, 10  # the panels that have a balanced design


@dataclass(frozen=True, slots=True)
class SimulatedPanel:
    """Members by their makers; `strengths` are the mean worth of their answers, 0 if empty.

    Every member judges, each with its own entry of `biases`. Raise PanelError for fewer than three
    or more than ten members.
    """

    makers: tuple[str, ...]
    biases: tuple[Biases, ...]
    strengths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not MIN_MEMBERS <= len(self.makers) <= MAX_MEMBERS:
            raise PanelError(f"A simulated panel has {MIN_MEMBERS} to {MAX_MEMBERS} models.")
        if len(self.biases) != len(self.makers):
            raise PanelError("A simulated panel needs one set of biases per model.")
        if len(self.strengths) not in {0, len(self.makers)}:
            raise PanelError("A simulated panel needs a strength for every model, or for none.")

    @property
    def members(self) -> tuple[str, ...]:
        """The members' keys: maker and number, from 1."""
        return tuple(f"{maker}/{i}" for i, maker in enumerate(self.makers, start=1))


def uniform_panel(members: int, biases: Biases = FAIR, makers: str = "") -> SimulatedPanel:
    """Return a panel of judges that all have the same biases.

    `makers` has a letter for each member; by default the first two share a maker and no others do.
    """
    letters = makers or "A" + "ABCDEFGHI"[: members - 1]
    return SimulatedPanel(tuple(letters), (biases,) * len(letters))


GUMBEL_SD = pi / sqrt(6)
_SLOT_B = 1  # the slot that has the letter B


@dataclass(frozen=True, slots=True)
class SimulatedAnswers:
    """Worth and length of answers, in standard deviations, by (round, member)."""

    worth: Floats
    length: Floats


@dataclass(frozen=True, slots=True)
class SimulatedVotes:
    """One ballot of each judge in each round, without ties, by (round, judge, slot).

    `shown` is the author in the slot, as an index in panel order; `places` is the place the judge
    gave it, 1 the best.
    """

    shown: Indexes
    places: Indexes

    @property
    def shares(self) -> Floats:
        """The Borda share each judge gave the answer at each slot: last 0, first 1."""
        slots = self.places.shape[2]
        shares: Floats = (slots - self.places) / (slots - 1)
        return shares

    def by_member(self, members: int) -> Floats:
        """Return shares by (round, judge, member); NaN for an answer that was not shown."""
        by_member = np.full((*self.shown.shape[:2], members), np.nan)
        np.put_along_axis(by_member, self.shown, self.shares, axis=2)
        return by_member

    def ballots(
        self, round_: int, judges: tuple[str, ...], labels: tuple[Label, ...]
    ) -> tuple[Ballot, ...]:
        """Return the ballots of one round; `labels` are those of the members, in panel order."""
        shown_seats, given_places = self.shown[round_].tolist(), self.places[round_].tolist()
        return tuple(
            Ballot(
                judge,
                tuple(labels[i] for i in shown),
                tuple((labels[i],) for _, i in sorted(zip(places, shown, strict=True))),
            )
            for judge, shown, places in zip(judges, shown_seats, given_places, strict=True)
        )


def cast_votes(
    panel: SimulatedPanel,
    answers: SimulatedAnswers,
    shown: Indexes,
    rng: np.random.RandomState,
) -> SimulatedVotes:
    """Return every judge's votes on its slates of two or more slots.

    A judge orders by worth, biases and Gumbel noise (Luce 1959): without other biases it ranks c
    above d with log-odds (worth_c − worth_d)·π/(√6·noise). Without noise the better answer always
    wins.
    """
    biases = panel.biases
    bias = {name: _column([getattr(one, name) for one in biases]) for name in biases[0].__slots__}
    slots = np.arange(shown.shape[2])
    rows = np.arange(len(shown))[:, None, None]
    makers = np.unique(panel.makers, return_inverse=True)[1]
    judges = np.arange(shown.shape[1])[:, None]
    own = shown == judges
    same_maker = makers[shown] == makers[judges]
    perceived = answers.worth[rows, shown] + bias["length"] * answers.length[rows, shown]
    perceived = perceived + bias["position"] * (0.5 - slots / (len(slots) - 1))
    perceived = perceived + bias["letter"] * (slots == _SLOT_B)
    perceived = perceived + bias["own"] * own + bias["family"] * (same_maker & ~own)
    perceived = perceived + bias["noise"] / GUMBEL_SD * rng.gumbel(size=shown.shape)
    order = np.argsort(-perceived, axis=2, kind="stable")
    return SimulatedVotes(shown, np.argsort(order, axis=2, kind="stable") + 1)


def _column(values: list[float]) -> Floats:
    return np.array(values)[:, None]


@dataclass(frozen=True, slots=True)
class SimulatedRounds:
    """Rounds and the votes of their judges; every judge is a member and votes in every round.

    `answers` holds the true worth and length of each answer, `counted` the ballots that count, and
    `labels` those of each round.
    """

    panel: SimulatedPanel
    seed: str
    answers: SimulatedAnswers
    labels: tuple[LabelMap, ...]
    counted: SimulatedVotes

    def fixed_order(self) -> SimulatedVotes:
        """Return votes in a fixed design: panel order for all judges, their own answer included."""
        count, members = self.answers.worth.shape
        shown = np.broadcast_to(np.arange(members), (count, members, members))
        random_state = _random_state(self.seed, "fixed order")
        return cast_votes(self.panel, self.answers, shown, random_state)

    def ballots(self, votes: SimulatedVotes, round_: int) -> tuple[Ballot, ...]:
        """Return one round's votes as ballots that the tally can count."""
        return votes.ballots(round_, self.panel.members, self.labels[round_].labels)


def simulated_rounds(
    panel: SimulatedPanel, rounds: int, seed: str, spread: float = 1.0
) -> SimulatedRounds:
    """Return rounds whose answers have normal, independent worth and length with deviation 1.

    Worth is around each member's strength, or 0; a `spread` of 0 makes the answers of equal members
    equal.
    """
    rng = _random_state(seed, "answers")
    shape = (rounds, len(panel.makers))
    strengths = np.array(panel.strengths or (0.0,) * len(panel.makers))
    worth = strengths + spread * rng.standard_normal(shape)
    answers = SimulatedAnswers(worth, rng.standard_normal(shape))
    seeds = [f"{seed} {i}" for i in range(rounds)]
    labels = tuple(draw_labels(panel.members, round_seed) for round_seed in seeds)
    drawn = (
        draw_slates(round_labels, (), round_seed)
        for round_labels, round_seed in zip(labels, seeds, strict=True)
    )
    shown = [
        _shown_seats(round_labels, slates)
        for round_labels, slates in zip(labels, drawn, strict=True)
    ]
    seated = np.array(shown, dtype=np.intp).reshape(*shape, len(panel.makers) - 1)
    counted = cast_votes(panel, answers, seated, _random_state(seed, "ballots"))
    return SimulatedRounds(panel, seed, answers, labels, counted)


def _shown_seats(labels: LabelMap, slates: tuple[Slate, ...]) -> list[list[int]]:
    """Return the authors each judge sees, as indexes, in panel order of the judges."""
    seat = {label: i for i, label in enumerate(labels.labels)}
    return [[seat[label] for label in slate.shown] for slate in slates]


def _random_state(seed: str, purpose: str) -> np.random.RandomState:
    """Return a separate generator for each purpose.

    numpy guarantees that the stream of RandomState never changes.
    """
    return np.random.RandomState(int(digest(seed, "simulation", purpose)[:8], 16))
