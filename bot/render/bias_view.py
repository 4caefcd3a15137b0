"""Bias report view model: finite numbers only, number formats, and a judge's measures."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from math import isfinite
from typing import Any

from bot.chat import Table
from bot.render.formatting import number_table
from bot.render.leaderboard_tables import Coverage, percent, signed_number
from council.bias.report import BiasReport, Effect, Interval, JudgeBias, MakerEffect

# --- View of a report


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


def _drop_non_finite(value: Any) -> Any:  # noqa: ANN401 - any part of a report
    """Return a value with None in place of every number in it that is not finite.

    An interval with such an end, or of such a value, is None too.
    """
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, tuple):
        return tuple(map(_drop_non_finite, value))
    if isinstance(value, Mapping):
        return {key: _drop_non_finite(one) for key, one in value.items()}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    kept = replace(
        value, **{one.name: _drop_non_finite(getattr(value, one.name)) for one in fields(value)}
    )
    if isinstance(kept, Effect) and (kept.value is None or None in (kept.interval or ())):
        return replace(kept, interval=None)
    return kept


# --- Effects as text

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


EFFECT_COLUMNS = ("95 % interval", "Over", "p, Holm", "To settle it")


def effect_cells(effect: Effect, format_number: FormatNumber) -> tuple[str, ...]:
    """Return an effect's value and the cells of `EFFECT_COLUMNS`."""
    return (
        TOO_LITTLE if effect.value is None else format_number(effect.value),
        interval_text(effect.interval, format_number),
        sample_text(effect),
        p_text(effect),
        needed_text(effect),
    )


def excludes_zero(effect: Effect) -> bool:
    """Return whether the interval excludes 0, without correction for multiple tests."""
    return effect.interval is not None and not effect.interval[0] <= 0 <= effect.interval[1]


def rough_count(number: int) -> str:
    """Return a rounded number: "about 40", "more than 5,000"."""
    if number > _MAX_COUNT:
        return f"more than {_MAX_COUNT:,}"
    step = next(step for limit, step in _STEPS if number <= limit)
    return f"about {-(-number // step) * step:,}"


# --- Measures


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


# --- Effect of blinding

_COLUMNS = ("Family", "Gains", *EFFECT_COLUMNS)
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
    return number_table(_COLUMNS, map(_brand_row, brands))


def _brand_row(brand: MakerEffect) -> tuple[str, ...]:
    return (family_name(brand.maker), *effect_cells(brand.effect, signed_number))
