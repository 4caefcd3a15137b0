"""What sways a simulated judge beside the worth of an answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from council.ballots import Ballot
from council.errors import PanelError
from council.labels import Label, LabelMap, Slate, draw_labels, draw_slates
from council.randomness import digest

# --- What sways a simulated judge beside the worth of an answer.


@dataclass(frozen=True, slots=True)
class Biases:
    """What a judge adds to an answer's worth, in units of worth: answers differ by 1 (their sd).

    `position`: what the first slot gains over the last, falling evenly between. `letter`: what the
    answer under the letter B gains. `own`: what its own answer gains. `family`: what answers of
    its maker gain, its own left out. `length`: what each standard deviation of length gains.
    `brand`: what answers of its maker gain, its own with them, once names are shown. `noise` is
    the standard deviation of what chance adds, to each answer on each ballot anew.
    """

    position: float = 0.0
    letter: float = 0.0
    own: float = 0.0
    family: float = 0.0
    length: float = 0.0
    brand: float = 0.0
    noise: float = 1.0


FAIR = Biases()
# With these, five members in a fixed order that shows the own answer come to a τ of about .45.
STRONG = Biases(position=2.0, own=1.0, noise=1.8)
PRESETS: Mapping[str, Biases] = {"none": FAIR, "strong": STRONG}


# --- A simulated panel: who made its members, how good they are and how they judge.

FEWEST, MOST = 3, 10  # the panels that have a balanced design


@dataclass(frozen=True, slots=True)
class SimulatedPanel:
    """Members by their makers; `strengths` are the mean worth of each one's answers, 0 without.

    Every member judges, each with its own entry of `biases`. Raises PanelError for fewer than
    three members or more than ten.
    """

    makers: tuple[str, ...]
    biases: tuple[Biases, ...]
    strengths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not FEWEST <= len(self.makers) <= MOST:
            raise PanelError(f"A simulated panel has {FEWEST} to {MOST} members.")
        if len(self.biases) != len(self.makers):
            raise PanelError("A simulated panel has one set of biases for each member.")
        if len(self.strengths) not in {0, len(self.makers)}:
            raise PanelError("A simulated panel has a strength for each member, or for none.")

    @property
    def members(self) -> tuple[str, ...]:
        """The members' keys: their maker and their number, from 1."""
        return tuple(f"{maker}/{i}" for i, maker in enumerate(self.makers, start=1))


def a_panel_of(members: int, biases: Biases = FAIR, makers: str = "") -> SimulatedPanel:
    """Give a panel of judges that are all swayed alike.

    `makers` has a letter for each member; without it the first two share a maker, no others do.
    """
    letters = makers or "A" + "ABCDEFGHI"[: members - 1]
    return SimulatedPanel(tuple(letters), (biases,) * len(letters))


# --- How simulated judges vote: each by what it sees an answer as worth, biases and chance added.

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


# --- Simulated rounds: answers of known worth, the slates they stand on, and the ballots.

SeatIndexes = NDArray[np.intp]

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

    def _voted(self, shown: SeatIndexes, purpose: str, *, named: bool = False) -> Votes:
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
