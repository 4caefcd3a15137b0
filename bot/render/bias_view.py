"""Bias report view model: finite numbers only, number formats, and a judge's measures."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite

from bot.chat import Table
from bot.render.leaderboard_tables import Coverage, percent, signed_number
from council.bias.report import (
    BiasReport,
    Effect,
    GivenShare,
    Interval,
    JudgeBias,
    MakerEffect,
    Slot,
    Trait,
)

# View of a report


@dataclass(frozen=True, slots=True)
class BiasView:
    """A report with finite numbers, the rounds it covers, and display names by seat key."""

    report: BiasReport
    coverage: Coverage
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, key: str) -> str:
        """Return the name of a seat, or its key if no panel has it any more."""
        return self.names.get(key, key)

    def maker(self, judge: JudgeBias) -> str:
        """Return the name of a judge's family."""
        return family_name(judge.maker)

    def has_family(self, judge: JudgeBias) -> bool:
        """Return whether another seat is of the judge's family, so that it can be preferred."""
        if judge.family.n:
            return True
        is_known = not judge.maker.startswith("unknown:")
        return is_known and Counter(one.maker for one in self.report.judges)[judge.maker] > 1


def family_name(maker: str) -> str:
    """Return the name of a family; of an unknown one, its provider."""
    return maker.removeprefix("unknown:")


def make_bias_view(report: BiasReport, coverage: Coverage, names: Mapping[str, str]) -> BiasView:
    """Return the view of a report."""
    return BiasView(_drop_non_finite(report), coverage, names)


def _drop_non_finite(report: BiasReport) -> BiasReport:
    """Return the report with None in place of every number that is not finite."""
    return replace(
        report,
        audit_usd=_finite(report.audit_usd),
        judges=tuple(map(_finite_judge, report.judges)),
        given=tuple(_finite_share(one) for one in report.given),
        traits=tuple(map(_finite_trait, report.traits)),
        alpha=_finite(report.alpha),
        n_eff=_finite(report.n_eff),
        brands=tuple(
            replace(brand, effect=_finite_effect(brand.effect)) for brand in report.brands
        ),
    )


def _finite(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None


def _finite_effect(effect: Effect) -> Effect:
    interval = effect.interval if effect.interval and all(map(isfinite, effect.interval)) else None
    value = _finite(effect.value)
    return replace(
        effect,
        value=value,
        interval=interval if value is not None else None,
        p=_finite(effect.p),
        p_holm=_finite(effect.p_holm),
    )


def _finite_judge(judge: JudgeBias) -> JudgeBias:
    return replace(
        judge,
        own=_finite_effect(judge.own),
        family=_finite_effect(judge.family),
        named=_finite_effect(judge.named),
        first_slot=_finite_effect(judge.first_slot),
        position=_finite_effect(judge.position),
        slots=tuple(Slot(slot.number, _finite_effect(slot.effect)) for slot in judge.slots),
        kept=_finite_effect(judge.kept),
        length=_finite_effect(judge.length),
        style={trait: _finite_effect(effect) for trait, effect in judge.style.items()},
        agreement=_finite_effect(judge.agreement),
        spoiled=_finite_effect(judge.spoiled),
    )


def _finite_share(share: GivenShare) -> GivenShare:
    return replace(share, share=_finite(share.share))


def _finite_trait(trait: Trait) -> Trait:
    return replace(
        trait,
        winners=_finite(trait.winners),
        rest=_finite(trait.rest),
        difference=_finite_effect(trait.difference),
    )


# Effects as text

FormatNumber = Callable[[float], str]

TOO_LITTLE = "too little to say"
_MIN_P = 0.001
_MAX_COUNT = 5_000
_STEPS = ((20, 1), (200, 10), (1_000, 50), (_MAX_COUNT, 500))  # up to a limit, in steps of


def number_text(number: float) -> str:
    """Return a number without a plus sign: ".31", "−.05", "1.20"."""
    return signed_number(number).removeprefix("+")


def magnitude_text(number: float) -> str:
    """Return the magnitude of a number: ".31"."""
    return number_text(abs(number))


def interval_text(interval: Interval | None, format_number: FormatNumber = number_text) -> str:
    """Return an interval: ".18 to .44"; "" without one."""
    return " to ".join(map(format_number, interval)) if interval else ""


def p_text(effect: Effect) -> str:
    """Return p after Holm's correction: "p .003", "p < .001"; "" if nothing was tested."""
    p = effect.p_holm
    if p is None:
        return ""
    if p < _MIN_P:
        return "p < .001"
    return f"p {p:.3f}".replace("0.", ".", 1) if p < 1 else "p 1"


def certainty_text(
    effect: Effect, format_number: FormatNumber = number_text, *, is_negated: bool = False
) -> str:
    """Return the sample size and interval in brackets: "(n 52, .18 to .44)".

    If `is_negated`, the interval is that of the negated effect.
    """
    interval = effect.interval
    if interval and is_negated:
        interval = (-interval[1], -interval[0])
    return (
        f"({', '.join(filter(None, (f'n {effect.n:,}', interval_text(interval, format_number))))})"
    )


def sample_text(effect: Effect) -> str:
    """Return what the effect was measured over: "52 audit ballots"."""
    unit = effect.unit.removesuffix("s") if effect.n == 1 else effect.unit
    return f"{effect.n:,} {unit}"


def needed_text(effect: Effect) -> str:
    """Return how many more would settle it: "about 40 more"; "" if settled or unknown."""
    return "" if excludes_zero(effect) or not effect.more else f"{rough_count(effect.more)} more"


def excludes_zero(effect: Effect) -> bool:
    """Return whether the interval excludes 0, without correction for multiple tests."""
    return effect.interval is not None and not effect.interval[0] <= 0 <= effect.interval[1]


def rough_count(number: int) -> str:
    """Return a rounded number: "about 40", "more than 5,000"."""
    if number > _MAX_COUNT:
        return f"more than {_MAX_COUNT:,}"
    step = next(step for limit, step in _STEPS if number <= limit)
    return f"about {-(-number // step) * step:,}"


# Measures


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of a judge; `meaning` explains its number.

    `is_of_family` measures need another seat of the judge's family.
    """

    key: str
    title: str
    meaning: str
    of: Callable[[JudgeBias], Effect]
    format: FormatNumber = signed_number
    is_of_family: bool = False


OWN = Measure(
    "own",
    "Own answer",
    "the share of rivals beaten that it gives its own answer, less what the other judges give it; "
    "from audit ballots that showed the own answer",
    lambda judge: judge.own,
)
FAMILY = Measure(
    "family",
    "Own family",
    "the same for answers by others of its family",
    lambda judge: judge.family,
    is_of_family=True,
)
FIRST_SLOT = Measure(
    "first_slot",
    "First slot",
    "the share it gives whatever it sees first, less one half; beyond ±.06 it matters",
    lambda judge: judge.first_slot,
)
POSITION = Measure(
    "position",
    "Any slot",
    "its largest fondness or dislike of a slot, with p of a permutation test over all slots",
    lambda judge: judge.position,
)
KEPT = Measure(
    "kept",
    "Orders kept",
    "the share of pairs it puts in the same order when it sees the same answers in another; "
    "a coin keeps 50 %",
    lambda judge: judge.kept,
    percent,
)
LENGTH = Measure(
    "length",
    "Length φ",
    "how much longer answers win, in log-odds; 0 is not at all",
    lambda judge: judge.length,
)
NAMED = Measure(
    "named",
    "Names shown",
    "what its family gains when it sees the names: what blinding changed",
    lambda judge: judge.named,
    is_of_family=True,
)
AGREEMENT = Measure(
    "agreement",
    "Agreement",
    "its mean τ with the other judges, from −1 to +1; 0 is chance",
    lambda judge: judge.agreement,
)
SPOILED = Measure(
    "spoiled",
    "Spoiled",
    "the share of its ballots that could not be read",
    lambda judge: judge.spoiled,
    percent,
)
_BEFORE_STYLE = (OWN, FAMILY, FIRST_SLOT, POSITION, KEPT, LENGTH)
_AFTER_STYLE = (NAMED, AGREEMENT, SPOILED)
ALL_MEASURES = (*_BEFORE_STYLE, *_AFTER_STYLE)


def _style_measure(trait: str) -> Measure:
    """Return the measure of a trait of style."""
    return Measure(
        f"style_{trait}",
        f"Style: {trait}",
        "how much answers with it win, in log-odds, beside length",
        lambda judge: judge.style[trait],
    )


def judge_measures(judge: JudgeBias) -> Iterator[Measure]:
    """Yield everything that is measured of a judge."""
    yield from _BEFORE_STYLE
    yield from map(_style_measure, judge.style)
    yield from _AFTER_STYLE


# Effect of blinding

_COLUMNS = ("Family", "Gains", "95 % interval", "Over", "p, Holm", "To settle it")
BLINDING_NOTE = (
    "On some audit ballots a judge sees the same answers with their authors’ names. What a family "
    "gains is the share its answers are given then, less what the same judge gave them blind."
)


def brand_lines(bias: BiasView) -> Iterator[str]:
    """Yield which families' answers are ranked differently when judges see the names."""
    for brand in bias.report.brands:
        effect = brand.effect
        if effect.is_found and effect.value is not None:
            side, is_negated = ("lower", True) if effect.value < 0 else ("higher", False)
            yield (
                f"Judges rank answers by {family_name(brand.maker)} {magnitude_text(effect.value)} "
                f"{side} when they see the names "
                f"{certainty_text(effect, is_negated=is_negated)}: blinding takes that away."
            )


def brand_table(bias: BiasView) -> Table | None:
    """Return every family with what it gains; None if no ballot was cast with names."""
    brands = [brand for brand in bias.report.brands if brand.effect.n]
    if not brands:
        return None
    return Table(_COLUMNS, tuple(map(_brand_row, brands)), frozenset(range(1, len(_COLUMNS))))


def _brand_row(brand: MakerEffect) -> tuple[str, ...]:
    effect = brand.effect
    return (
        family_name(brand.maker),
        TOO_LITTLE if effect.value is None else signed_number(effect.value),
        interval_text(effect.interval, signed_number),
        sample_text(effect),
        p_text(effect),
        needed_text(effect),
    )
