"""The bias report: every effect measured for each judge, with its uncertainty."""

from collections.abc import Mapping
from dataclasses import dataclass

Interval = tuple[float, float]

MAX_POSITION_BIAS = 0.06  # a smaller preference for a position hardly matters


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect measured over `n` units ("ballots", "audit ballots", "pairs of answers", …).

    `value`, the 95 % interval and the two-sided `p` are None if there is too little data; `p_holm`
    is `p` corrected for all tests of the report (Holm 1979). `more` further units would make the
    interval exclude 0, if the effect is as large as measured: 0 if it does already, None if
    unknown.
    """

    n: int
    unit: str
    value: float | None = None
    interval: Interval | None = None
    p: float | None = None
    p_holm: float | None = None
    more: int | None = None

    @property
    def is_found(self) -> bool:
        """Whether the effect is significant at 5 % among all tests of the report."""
        return self.p_holm is not None and self.p_holm <= 0.05  # noqa: PLR2004


@dataclass(frozen=True, slots=True)
class Slot:
    """Mean Borda share minus ½ at one place; `JudgeBias.position` tests all places together."""

    number: int
    effect: Effect


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """The bias of one seat as a judge.

    `own` is the share it gives its own answer minus what the other judges give it, on audit
    ballots; `family` is the same for its maker's other answers, on counted ballots; `named` is what
    its maker's other answers gain when names are shown. `family` and `named` have no units if its
    maker has no other seat. `first_slot` is the mean share of the answer it saw first minus ½,
    `position` the permutation test over all slots with the effect of the one that stands out most,
    `slots` the curve. `kept` is the share of pairs it ordered the same when shown in another order:
    1 is perfect, ½ is chance. `length` is φ of φ·tanh(Δ tokens/sd) in log-odds, `style` the
    log-odds by trait, fitted together with it. `agreement` is the mean τ_b with the other judges,
    `spoiled` the share of its ballots that were spoiled.
    """

    judge: str
    maker: str
    own: Effect
    family: Effect
    named: Effect
    first_slot: Effect
    position: Effect
    slots: tuple[Slot, ...]
    kept: Effect
    length: Effect
    style: Mapping[str, Effect]
    agreement: Effect
    spoiled: Effect

    @property
    def is_position_biased(self) -> bool:
        """Whether the order it saw influences it, beyond chance among all tests, and enough."""
        return any(
            effect.is_found and abs(effect.value or 0.0) > MAX_POSITION_BIAS
            for effect in (self.position, self.first_slot)
        )


@dataclass(frozen=True, slots=True)
class GivenShare:
    """The mean share over `n` ballots; a judge's share for itself is from its own-answer audits."""

    judge: str
    author: str
    share: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Trait:
    """A trait of winners and of other answers, and the difference with its interval."""

    name: str
    winners: float | None
    rest: float | None
    difference: Effect


@dataclass(frozen=True, slots=True)
class MakerEffect:
    """What a maker's answers gain over all judges when authors are named."""

    maker: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class CheckRate:
    """In which share of a seat's rounds a check found something, with Wilson's interval."""

    kind: str
    seat: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class VerdictValue:
    """How often the first place of a strength was the best answer, by a source of truth.

    The source is "people" or "grades"; `chance` is the rate for an answer drawn at random.
    """

    strength: str
    is_sure: bool
    source: str
    agreed: Effect
    chance: float


@dataclass(frozen=True, slots=True)
class ChairmanBias:
    """The bias of one model as chairman, over the rounds that it wrote.

    `own`, `early`, `points` and `length` are log-odds of drawing on an answer: for its own, for the
    first read against the last, for all points against none, and for e times the usual length.
    They rest on rounds that drew on some answers, not all. There `own_used` is how often it drew on
    its own answer, and `own_expected` how often the other three would. `departs` is how often its
    text contradicts the first place, and `backed` how often people or grades then side with it.
    """

    chairman: str
    rounds: int
    own: Effect
    own_used: Effect
    own_expected: float | None
    early: Effect
    points: Effect
    length: Effect
    departs: Effect
    backed: Effect


@dataclass(frozen=True, slots=True)
class BiasReport:
    """The bias of every judge over `rounds` closed rounds.

    `audits` counts the cast audit ballots by kind; `audit_usd` is their cost, None if no cost is
    known. `n_eff` is the effective number of judges, None below thirty rounds; `majority` is the
    maker that holds most of the seats, if there is one. `unpriced` audit ballots, including spoiled
    ones, have an unknown cost that is not in `audit_usd`; `spoiled_audits` are those that were
    spoiled, of unknown kind. `checks` are those that panels asked for. `verdicts` say what the
    first place was worth. The tests of `chairmen` are corrected among themselves.
    """

    rounds: int
    ballots: int
    audits: Mapping[str, int]
    audit_usd: float | None
    judges: tuple[JudgeBias, ...]
    given: tuple[GivenShare, ...]
    traits: tuple[Trait, ...]
    alpha: float | None = None
    n_eff: float | None = None
    majority: str | None = None
    brands: tuple[MakerEffect, ...] = ()
    unpriced: int = 0
    spoiled_audits: int = 0
    checks: tuple[CheckRate, ...] = ()
    verdicts: tuple[VerdictValue, ...] = ()
    chairmen: tuple[ChairmanBias, ...] = ()
