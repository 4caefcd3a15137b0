"""Bias report as tables and notes: a view with finite numbers, number formats, measures."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from math import isfinite
from typing import Any

from bot.bakeoffs.render.leaderboard_tables import Coverage, percent, signed_number
from bot.chat import Table
from bot.render.formatting import count_noun, money, number_table
from council.bakeoffs.bias.report import BiasReport, Effect, Interval, JudgeBias, Trait
from council.bakeoffs.bias.votes import CANARY, INVERTED_WORDING, USUAL_WORDING
from council.filters import FILTER, JUMPS, MEASURES, PATTERNS

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

TOO_LITTLE = "too few to say"
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


def certainty_text(effect: Effect, format_number: FormatNumber = number_text) -> str:
    """Return the sample size and interval in brackets: "(n 52, .18 to .44)"."""
    within = interval_text(effect.interval, format_number)
    return f"(n {effect.n:,}{', ' if within else ''}{within})"


def higher_or_lower(effect: Effect) -> str:
    """Return "HOW MUCH higher" or "HOW MUCH lower"."""
    value = effect.value or 0
    return f"{magnitude_text(value)} {'lower' if value < 0 else 'higher'}"


def magnitude_certainty(effect: Effect) -> str:
    """Return the sample size and the interval of the effect's magnitude."""
    if effect.interval and (effect.value or 0) < 0:
        low, high = effect.interval
        effect = replace(effect, interval=(-high, -low))
    return certainty_text(effect)


def difference_lines(what: str, effect: Effect, than: str, end: str = "") -> Iterator[str]:
    """Yield how much higher or lower something is ranked, if that is beyond chance."""
    if effect.is_found:
        yield f"{what} {higher_or_lower(effect)} {than} {magnitude_certainty(effect)}{end}."


def sample_text(effect: Effect) -> str:
    """Return what the effect was measured over, in words for people: "52 audit rankings"."""
    unit = effect.unit.replace("ballot", "ranking")
    return f"{effect.n:,} {unit.removesuffix('s') if effect.n == 1 else unit}"


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
    """One measure of a judge; `key` is its field or its trait of style, `meaning` explains it.

    `noun` names the bias in a sentence about what is ruled out or still open, "" if it is in none;
    if `can_be_none`, an interval close to 0 rules it out. `is_of_family` measures need another
    seat of the judge's family.
    """

    key: str
    title: str
    meaning: str
    noun: str = ""
    format: FormatNumber = signed_number
    is_of_family: bool = False
    can_be_none: bool = True

    def of(self, judge: JudgeBias) -> Effect:
        """Return the judge's effect."""
        effects = {f"style_{trait}": effect for trait, effect in judge.style.items()}
        return effects.get(self.key) or getattr(judge, self.key)


OWN = Measure(
    "own",
    "Own answer",
    "the points a judge gives its own answer, minus what the other judges give it, from audit "
    "rankings that included its own answer",
    "self-preference",
)
FAMILY = Measure(
    "family",
    "Own family",
    "the same for other models of its family",
    "family preference",
    is_of_family=True,
)
FIRST_SLOT = Measure(
    "first_slot",
    "Shown first",
    "the points it gives to what it sees first, minus one half; beyond ±.06 it matters",
    "position bias",
)
POSITION = Measure(
    "position",
    "Any position",
    (
        "its strongest preference for or against a position, with p of a permutation test over all "
        "positions"
    ),
)
KEPT = Measure(
    "kept",
    "Consistency",
    "the share of pairs it ranks the same way when it sees the same answers in another order; "
    "chance gives 50 %",
    "consistency",
    percent,
    can_be_none=False,
)
LENGTH = Measure(
    "length",
    "Longer answers",
    "how much longer answers win, in log-odds; 0 is no effect",
    "length bias",
    can_be_none=False,
)
NAMED = Measure(
    "named",
    "Names shown",
    "what its family gains when it sees the names, which blinding prevents",
    "the effect of names",
    is_of_family=True,
)
AGREEMENT = Measure(
    "agreement",
    "Agreement",
    "how far it agrees with the other judges, from −1 to +1; 0 is chance",
    "agreement with others",
)
_SPOILED = Measure(
    "spoiled", "Invalid", "the share of its rankings that were invalid", format=percent
)
_BEFORE_STYLE = (OWN, FAMILY, FIRST_SLOT, POSITION, KEPT, LENGTH)
_AFTER_STYLE = (NAMED, AGREEMENT, _SPOILED)
ALL_MEASURES = (*_BEFORE_STYLE, *_AFTER_STYLE)


def judge_measures(judge: JudgeBias) -> Iterator[Measure]:
    """Yield everything that is measured of a judge."""
    yield from _BEFORE_STYLE
    for trait in judge.style:
        meaning = "how much answers with it win, in log-odds, adjusted for length"
        yield Measure(f"style_{trait}", f"Style: {trait}", meaning)
    yield from _AFTER_STYLE


# --- Effect of blinding

PREVENTED = "; blinding prevents that"
BLINDING_NOTE = (
    "For some audit rankings a judge sees the same answers with their authors’ names. A "
    "family’s gain is the share of points its answers get then, minus what the same judge gave "
    "them blind."
)


def brand_lines(bias: BiasView) -> Iterator[str]:
    """Yield which families' answers are ranked differently when judges see the names."""
    for brand in bias.report.brands:
        what = f"Judges rank answers by {family_name(brand.maker)}"
        yield from difference_lines(what, brand.effect, "when they see the names", PREVENTED)


def brand_table(bias: BiasView) -> Table | None:
    """Return every family of which it is known what it gains; None if there is none."""
    rows = [
        (family_name(brand.maker), *effect_cells(brand.effect, signed_number))
        for brand in bias.report.brands
        if brand.effect.value is not None
    ]
    return number_table(("Family", "Gains", *EFFECT_COLUMNS), rows) if rows else None


# --- Cautions

_FEW_ROUNDS = 30  # fewer rounds are too few for most findings


def caution_lines(bias: BiasView) -> Iterator[str]:
    """Yield what weakens the report: a majority family, dependent judges, few rounds."""
    report = bias.report
    if report.majority:
        yield (
            f"Most judges are from one family, {family_name(report.majority)}. If it prefers its "
            "own answers, it outvotes the others."
        )
    judges = len(report.judges)
    if report.n_eff is not None and report.n_eff < 0.6 * judges:
        yield (
            f"The judges vote much alike: {count_noun(judges, 'judge')} count as about "
            f"{report.n_eff:.1f} independent ones."
        )
    if judges == 1:
        yield "There is only one judge, so there is nobody to compare it with."
    if report.rounds < _FEW_ROUNDS:
        yield (
            f"{count_noun(report.rounds, 'round')} {'is' if report.rounds == 1 else 'are'} few: "
            f"most biases need {_FEW_ROUNDS} or more to be distinguished from chance."
        )


def agreement_line(bias: BiasView) -> str:
    """Return how far all judges agree, and as how many they count; "" if unknown."""
    report = bias.report
    parts = []
    if report.alpha is not None:
        parts.append(
            f"Krippendorff’s α over all rankings is {number_text(report.alpha)}; 0 is chance."
        )
    if report.n_eff is not None:
        judges = count_noun(len(report.judges), "judge")
        parts.append(f"The {judges} count as {report.n_eff:.1f} independent ones (N_eff).")
    elif report.rounds:
        parts.append("N_eff needs thirty rounds of a panel.")
    return " ".join(parts)


# --- Audit ballots


def audit_lines(bias: BiasView) -> Iterator[str]:
    """Yield how many audit ballots were cast, their cost, and how to turn them off."""
    audits = sum(bias.report.audits.values())
    if not audits:
        yield (
            "There are no audit rankings, so self-preference, consistency and the effect of "
            "names are unknown. Set “audit_share = 0.2” for a panel in council.toml to audit "
            "one round in five."
        )
        return
    total = count_noun(audits, "audit ranking")
    yield f"{total}, made to measure bias and never counted. {_audit_cost(bias)}"
    if spoiled := bias.report.spoiled_audits:
        yield f"{spoiled:,} more were invalid and are not measured."
    yield (
        "“audit_share = 0” for a panel in council.toml turns them off; a larger share gives "
        "clearer findings."
    )


def _audit_cost(bias: BiasView) -> str:
    usd, unpriced = bias.report.audit_usd, bias.report.unpriced
    if usd is None:
        return "Their cost is unknown."
    addition = f", plus {unpriced:,} of unknown cost" if unpriced else ""
    return f"They cost {money(usd)} in total{addition}."


# --- Checks that a panel asked for

CHECKS = {  # by kind
    CANARY: "{} fell for the canary",
    USUAL_WORDING: "{} ranked against the other judges, asked in the usual wording,",
    INVERTED_WORDING: "{} ranked against the other judges, asked in the inverted wording,",
    PATTERNS: "An answer looked as if it tried to steer judges",
    MEASURES: "An answer had unusual words or odd Markdown",
    JUMPS: "An answer was ranked far higher than in earlier rounds",
    FILTER: "The filter model suspected an answer or a reason",
}


def check_lines(bias: BiasView) -> Iterator[str]:
    """Yield in how many rounds each check found something, on each seat if it is about seats."""
    for rate in bias.report.checks:
        n, value = rate.effect.n, rate.effect.value or 0.0
        within = interval_text(rate.effect.interval, percent)
        what = CHECKS[rate.kind].format(bias.name(rate.seat))
        yield f"{what} in {round(value * n):,} of {count_noun(n, 'round')} ({within})."


# --- Winning traits

_LENGTH = "length"


WINNING_NOTE = (
    "Winners are the answers ranked first in their round. A difference does not prove that "
    "judges reward the trait: good answers may simply have it."
)


def winning_lines(bias: BiasView) -> Iterator[str]:
    """Yield which traits winners have more or less of, beyond chance."""
    yield from (_winning_line(trait) for trait in bias.report.traits if trait.difference.is_found)


def winning_table(bias: BiasView) -> Table | None:
    """Return every trait of winners and of the rest; None if none is known."""
    columns = ("Trait", "Winners", "The rest", "Difference", *EFFECT_COLUMNS)
    rows = [_trait_row(one) for one in bias.report.traits if one.difference.value is not None]
    return number_table(columns, rows) if rows else None


def _winning_line(trait: Trait) -> str:
    difference = trait.difference
    certainty = certainty_text(difference, lambda number: _signed_trait_number(trait, number))
    winners, rest = _trait_cell(trait, trait.winners), _trait_cell(trait, trait.rest)
    is_less = (difference.value or 0) < 0
    if trait.name == _LENGTH:
        side = "shorter" if is_less else "longer"
        return f"Winners are {side} than the rest: {winners} tokens against {rest} {certainty}."
    frequency = "less often" if is_less else "more often"
    shares = f"{winners} of them against {rest}"
    return f"Winners have {trait.name} {frequency} than the rest: {shares} {certainty}."


def _trait_row(trait: Trait) -> tuple[str, ...]:
    return (
        "length, tokens" if trait.name == _LENGTH else trait.name,
        _trait_cell(trait, trait.winners),
        _trait_cell(trait, trait.rest),
        *effect_cells(trait.difference, partial(_signed_trait_number, trait)),
    )


def _trait_cell(trait: Trait, number: float | None) -> str:
    """Return a number of a trait: tokens, or the share of answers that have it."""
    if number is None:
        return TOO_LITTLE
    # Round first, so that a zero never has a sign.
    text = f"{round(number):,}" if trait.name == _LENGTH else percent(round(number, 2) + 0.0)
    return text.replace("-", "−")


def _signed_trait_number(trait: Trait, number: float) -> str:
    text = _trait_cell(trait, number)
    return text if text.startswith("−") else f"+{text}"


# --- Tables of judges


def judges_table(bias: BiasView) -> Table | None:
    """Return what is known of all judges, a row each; * marks what is beyond chance.

    None if at most one measure is known, as of the first rounds: the tables of judges have it.
    """
    judges = bias.report.judges
    measures = [
        measure
        for measure in ALL_MEASURES
        if measure is not POSITION and any(measure.of(judge).value is not None for judge in judges)
    ]
    if len(measures) < 2:  # noqa: PLR2004
        return None
    return number_table(
        ("Judge", *(measure.title for measure in measures)),
        (
            (bias.name(judge.judge), *(_measure_cell(bias, judge, measure) for measure in measures))
            for judge in judges
        ),
    )


def judges_legend(table: Table) -> str:
    """Return what the signs in the table of judges mean, of those that it has."""
    cells = [cell for row in table.rows for cell in row]
    signs = {
        "* unlikely to be chance.": any(cell.endswith("*") for cell in cells),
        "– too little data.": "–" in cells,
    }
    return " ".join(meaning for meaning, is_there in signs.items() if is_there)


def judge_table(bias: BiasView, judge: JudgeBias) -> Table:
    """Return what is measured of a judge, a row each; no family measures without a family."""
    known = (x for x in judge_measures(judge) if x.of(judge).value is not None)
    measures = (x for x in known if not x.is_of_family or bias.has_family(judge))
    rows = ((x.title, *effect_cells(x.of(judge), x.format)) for x in measures)
    return number_table(("Measure", "Effect", *EFFECT_COLUMNS), rows)


def given_table(bias: BiasView) -> Table:
    """Return the mean share each judge gave each author, and over how many ballots."""
    authors = dict.fromkeys(one.author for one in bias.report.given)
    judges = dict.fromkeys(one.judge for one in bias.report.given)
    cells = {
        (one.judge, one.author): f"{number_text(one.share)} (n {one.n:,})"
        for one in bias.report.given
        if one.share is not None
    }
    rows = (
        (bias.name(judge), *(cells.get((judge, author), "") for author in authors))
        for judge in judges
    )
    return number_table(("Judge", *map(bias.name, authors)), rows)


def slots_table(bias: BiasView) -> Table:
    """Return the share each judge gave what it saw at each slot, beyond one half."""
    judges = bias.report.judges
    last = max((slot.number for judge in judges for slot in judge.slots), default=0)
    rows = []
    for judge in judges:
        cells = {slot.number: _value_with_interval(slot.effect) for slot in judge.slots}
        rows.append((bias.name(judge.judge), *(cells.get(n, "") for n in range(1, last + 1))))
    return number_table(("Judge", *(f"Shown {n}" for n in range(1, last + 1))), rows)


def kept_table(bias: BiasView) -> Table:
    """Return the share of pair orders each judge kept."""
    judges = bias.report.judges
    rows = ((bias.name(x.judge), *effect_cells(x.kept, percent)[:3]) for x in judges)
    return number_table(("Judge", "Consistency", "95 % interval", "Over"), rows)


def _value_with_interval(effect: Effect) -> str:
    if effect.value is None:
        return TOO_LITTLE
    within = f" ({interval_text(effect.interval)})" if effect.interval else ""
    return f"{number_text(effect.value)}{within}"


def _measure_cell(bias: BiasView, judge: JudgeBias, measure: Measure) -> str:
    effect = measure.of(judge)
    if effect.value is None or (measure.is_of_family and not bias.has_family(judge)):
        return "–"
    return measure.format(effect.value) + ("\u00a0*" if effect.is_found else "")
