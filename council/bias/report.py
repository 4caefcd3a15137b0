"""What is known of the bias of judges: every effect with how sure it is."""

from collections.abc import Mapping
from dataclasses import dataclass

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect measured over `n` units ("ballots", "audit ballots", "pairs of answers", …).

    `value`, the 95 % interval and the two-sided `p` are None where there is too little to say;
    `p_holm` is `p` corrected for all tests of its report (Holm 1979). `more` units of the same
    kind would have the interval exclude an effect of no size, if the effect is as large as it
    looks: 0 where it does already, None where nobody can say.
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
        """Say whether it is beyond chance, among all that was tested."""
        return self.p_holm is not None and self.p_holm <= 0.05  # noqa: PLR2004


@dataclass(frozen=True, slots=True)
class Slot:
    """What a judge gave to the answers it saw at one place: mean Borda share less ½.

    It has no p: `JudgeBias.position` tests all places together.
    """

    number: int
    effect: Effect


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """The bias of one seat as a judge.

    `own` is the share it gives its own answer less what the other judges give it, on audit
    ballots; `family` the same for answers of its maker, its own left out, on counted ballots;
    `named` what its family gains when names are shown: "what blinding changed". Both are of no
    units where its maker has no other seat. `first_slot` is the mean share of what it saw first
    less ½, `position` the permutation test over all slots with the effect of the one that stands
    out most, `slots` the curve. `kept` is the share of pairs that stand as before when the
    same answers are shown in another order; no effect is 1, chance ½. `length` is φ of
    φ·tanh(Δ tokens/sd) in log-odds, `style` by trait the log-odds beside it. `agreement` is the
    mean τ_b with the other judges, `spoiled` the share of its ballots that were.
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


@dataclass(frozen=True, slots=True)
class GivenShare:
    """What a judge gave to an author's answers: mean share over `n` ballots, None for none.

    Where they are the same, it is from audit ballots that showed the own answer.
    """

    judge: str
    author: str
    share: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Trait:
    """What wins here: a trait of winners, of the rest, and the difference with its interval."""

    name: str
    winners: float | None
    rest: float | None
    difference: Effect


@dataclass(frozen=True, slots=True)
class MakerEffect:
    """What answers of a maker gain, over all judges, when these are told who wrote what."""

    maker: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class BiasReport:
    """The bias of every judge over so many closed rounds.

    `audits` are cast audit ballots by kind, and `audit_usd` what they cost, None if nobody knows.
    `n_eff` is the effective number of judges, None before thirty rounds; `majority` the maker that
    holds most of the seats, if one does. `unpriced` of the audit ballots, spoiled ones with them,
    have a cost that nobody knows and are not in `audit_usd`; `spoiled_audits` are those that
    ranked nothing, of a kind that is not known.
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
