"""Bias report view model: finite numbers only, number formats, and a judge's measures."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from math import isfinite
from typing import Any

from bot.chat import Table
from bot.render.formatting import number_table
from bot.render.leaderboard_tables import Coverage, percent, signed_number
from council.bias.report import BiasReport, Effect, Interval, JudgeBias

# --- View of a report


@dataclass(frozen=True, slots=True)
class BiasView:
    """A report, the rounds it covers, and display names by seat key.

    `make_bias_view` makes one whose numbers are finite.
    """

    report: BiasReport
    coverage: Coverage
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, key: str) -> str:
        """Return the name of a seat, or its key if no panel has it any more."""
        return self.names.get(key, key)

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
    if p < 0.001:  # noqa: PLR2004
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
    within = interval_text(interval, format_number)
    return f"(n {effect.n:,}{', ' if within else ''}{within})"


def higher_or_lower(effect: Effect) -> str:
    """Return "HOW MUCH higher" or "HOW MUCH lower"."""
    value = effect.value or 0
    return f"{magnitude_text(value)} {'lower' if value < 0 else 'higher'}"


def magnitude_certainty(effect: Effect) -> str:
    """Return the sample size and the interval of the effect's magnitude."""
    return certainty_text(effect, is_negated=(effect.value or 0) < 0)


def sample_text(effect: Effect) -> str:
    """Return what the effect was measured over: "52 audit ballots"."""
    unit = effect.unit.removesuffix("s") if effect.n == 1 else effect.unit
    return f"{effect.n:,} {unit}"


EFFECT_COLUMNS = ("95 % interval", "Over", "p, Holm", "To settle it")


def effect_cells(effect: Effect, format_number: FormatNumber) -> tuple[str, ...]:
    """Return an effect's value and the cells of `EFFECT_COLUMNS`."""
    is_settled = excludes_zero(effect) or not effect.more
    return (
        TOO_LITTLE if effect.value is None else format_number(effect.value),
        interval_text(effect.interval, format_number),
        sample_text(effect),
        p_text(effect),
        "" if is_settled else f"{rough_count(effect.more or 0)} more",
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
    """One measure of a judge; `key` is its field, `meaning` explains its number.

    `is_of_family` measures need another seat of the judge's family.
    """

    key: str
    title: str
    meaning: str
    format: FormatNumber = signed_number
    is_of_family: bool = False

    def of(self, judge: JudgeBias) -> Effect:
        """Return the judge's effect."""
        effect: Effect = getattr(judge, self.key)
        return effect


@dataclass(frozen=True, slots=True)
class _StyleMeasure(Measure):
    """The measure of a trait of style."""

    def of(self, judge: JudgeBias) -> Effect:
        """Return the judge's effect."""
        return judge.style[self.key.removeprefix("style_")]


OWN = Measure(
    "own",
    "Own answer",
    "the share of rivals beaten that it gives its own answer, less what the other judges give it; "
    "from audit ballots that showed the own answer",
)
FAMILY = Measure(
    "family", "Own family", "the same for answers by others of its family", is_of_family=True
)
FIRST_SLOT = Measure(
    "first_slot",
    "First slot",
    "the share it gives whatever it sees first, less one half; beyond ±.06 it matters",
)
POSITION = Measure(
    "position",
    "Any slot",
    "its largest fondness or dislike of a slot, with p of a permutation test over all slots",
)
KEPT = Measure(
    "kept",
    "Orders kept",
    "the share of pairs it puts in the same order when it sees the same answers in another; "
    "a coin keeps 50 %",
    percent,
)
LENGTH = Measure("length", "Length φ", "how much longer answers win, in log-odds; 0 is not at all")
NAMED = Measure(
    "named",
    "Names shown",
    "what its family gains when it sees the names: what blinding changed",
    is_of_family=True,
)
AGREEMENT = Measure(
    "agreement", "Agreement", "its mean τ with the other judges, from −1 to +1; 0 is chance"
)
_SPOILED = Measure("spoiled", "Spoiled", "the share of its ballots that could not be read", percent)
_BEFORE_STYLE = (OWN, FAMILY, FIRST_SLOT, POSITION, KEPT, LENGTH)
_AFTER_STYLE = (NAMED, AGREEMENT, _SPOILED)
ALL_MEASURES = (*_BEFORE_STYLE, *_AFTER_STYLE)


def judge_measures(judge: JudgeBias) -> Iterator[Measure]:
    """Yield everything that is measured of a judge."""
    yield from _BEFORE_STYLE
    for trait in judge.style:
        meaning = "how much answers with it win, in log-odds, beside length"
        yield _StyleMeasure(f"style_{trait}", f"Style: {trait}", meaning)
    yield from _AFTER_STYLE


# --- Effect of blinding

BLINDING_NOTE = (
    "On some audit ballots a judge sees the same answers with their authors’ names. What a family "
    "gains is the share its answers are given then, less what the same judge gave them blind."
)


def brand_lines(bias: BiasView) -> Iterator[str]:
    """Yield which families' answers are ranked differently when judges see the names."""
    for brand in bias.report.brands:
        effect = brand.effect
        if effect.is_found:
            yield (
                f"Judges rank answers by {family_name(brand.maker)} {higher_or_lower(effect)} when "
                f"they see the names {magnitude_certainty(effect)}: blinding takes that away."
            )


def brand_table(bias: BiasView) -> Table | None:
    """Return every family with what it gains; None if no ballot was cast with names."""
    rows = [
        (family_name(brand.maker), *effect_cells(brand.effect, signed_number))
        for brand in bias.report.brands
        if brand.effect.n
    ]
    return number_table(("Family", "Gains", *EFFECT_COLUMNS), rows) if rows else None
