"""What verdicts were worth, and the bias of chairmen, as sentences and tables."""

from collections.abc import Iterator, Sequence
from math import exp

from bot.bakeoffs.render.bias_tables import (
    TOO_LITTLE,
    BiasView,
    p_text,
)
from bot.bakeoffs.render.leaderboard_tables import interval_text, percent
from bot.chat import Table
from bot.render.formatting import number_table
from council.bakeoffs.bias.report import ChairmanBias, Effect, VerdictValue
from council.bakeoffs.bias.verdict_value import GRADES, PEOPLE
from council.tally.verdict import Strength

MIN_VERDICTS = 30  # rounds with a known best answer that a sentence needs

# --- What a verdict was worth

_LINES = {
    (Strength.UNANIMOUS, True): "All judges put it first",
    (Strength.UNANIMOUS, False): "All judges put it first; can be chance",
    (Strength.CLEAR, True): "Clearly ahead",
    (Strength.CLOSE, False): "Slightly ahead; could be chance",
    (Strength.TIED, False): "Tied for first",
    (Strength.NO_CONSENSUS, False): "No clear winner",
}
_SOURCES = {PEOPLE: "People agreed", GRADES: "Graded right"}
_SENTENCES = {
    PEOPLE: (
        "When the line said “clearly ahead”, people agreed in {hits} of {n} rounds",
        "People agreed with the answer in first place in {hits} of {n} rounds; the line never said "
        "“clearly ahead” there.",
    ),
    GRADES: (
        "When the line said “clearly ahead”, the answer was right in {hits} of {n} graded rounds",
        "The answer in first place was right in {hits} of {n} graded rounds; the line never said "
        "“clearly ahead” there.",
    ),
}
VERDICT_NOTE = (
    "People agree where most blind votes are for the answer in first place. Graded rounds count "
    "where some answers are right and some wrong. By chance: an answer drawn at random."
)


def verdict_lines(verdicts: Sequence[VerdictValue]) -> Iterator[str]:
    """Yield what a sure line was worth, a sentence for each source with thirty rounds or more."""
    for source in _SOURCES:
        sure_hits, sure = _count([x for x in verdicts if x.source == source and x.is_sure])
        hits, others = _count([x for x in verdicts if x.source == source and not x.is_sure])
        if sure + others < MIN_VERDICTS:
            continue
        known, never = _SENTENCES[source]
        if not sure:
            yield never.format(hits=hits, n=others)
        else:
            rest = f"; otherwise in {hits} of {others}" if others else ""
            yield f"{known.format(hits=sure_hits, n=sure)}{rest}."


def _count(verdicts: Sequence[VerdictValue]) -> tuple[int, int]:
    effects = [one.agreed for one in verdicts]
    return sum(map(_hits, effects)), sum(effect.n for effect in effects)


def _hits(effect: Effect) -> int:
    return round((effect.value or 0.0) * effect.n)


def verdict_table(bias: BiasView) -> Table | None:
    """Return for each line how often people and grades agreed; None if neither knows a round."""
    verdicts = bias.report.verdicts
    sources = [source for source in _SOURCES if any(one.source == source for one in verdicts)]
    if not sources:
        return None
    cells = {(one.strength, one.is_sure, one.source): one for one in verdicts}
    rows = []
    for (strength, is_sure), title in _LINES.items():
        found = [cells.get((strength.value, is_sure, source)) for source in sources]
        if any(found):
            rows.append((title, *(cell for one in found for cell in _verdict_cells(one))))
    columns = [column for source in sources for column in (_SOURCES[source], "By chance")]
    return number_table(("The line", *columns), rows)


def _verdict_cells(one: VerdictValue | None) -> tuple[str, str]:
    if one is None:
        return "–", "–"
    return _rate_cell(one.agreed), percent(one.chance)


def _rate_cell(effect: Effect) -> str:
    """Return a rate with its interval: "41 of 52 (66–88 %)"."""
    if not effect.n:
        return "–"
    return f"{_hits(effect):,} of {effect.n:,} ({interval_text(effect.interval or (0, 1))})"


# --- Chairmen

CHAIRMAN_NOTE = (
    "Expected is how often it would use its own answer if only points, length and the place of "
    "reading counted. × is the factor on the odds that it uses an answer. It departs where its "
    "text contradicts the answer in first place; then people or grades side with it or with the "
    "judges. Better answers in ways that points and length do not show also raise the factor."
)


def plain_chairman_lines(bias: BiasView) -> Iterator[str]:
    """Yield which biases of chairmen are beyond chance, without figures."""
    for one in bias.report.chairmen:
        name = bias.name(one.chairman)
        if one.own.is_found:
            often = "more" if (one.own.value or 0) > 0 else "less"
            yield (
                f"As chairman, {name} uses its own answer {often} often than its points and "
                "length explain."
            )
        if one.early.is_found:
            place = "first" if (one.early.value or 0) > 0 else "last"
            yield f"As chairman, {name} tends to use what it reads {place}."


def chairman_lines(bias: BiasView) -> Iterator[str]:
    """Yield the same with figures."""
    for one in bias.report.chairmen:
        name = bias.name(one.chairman)
        if one.own.is_found:
            yield (
                f"As chairman, {name} used its own answer in {percent(one.own_used.value or 0)} of "
                f"{one.own_used.n:,} rounds; points, length and place of reading explain "
                f"{percent(one.own_expected or 0)} ({_odds_text(one.own)})."
            )
        if one.early.is_found:
            often = "more" if (one.early.value or 0) > 0 else "less"
            yield (
                f"As chairman, {name} uses the first answer it reads {often} often than the last "
                f"({_odds_text(one.early)})."
            )


def chairmen_table(bias: BiasView) -> Table | None:
    """Return what is measured of each chairman; None if none wrote."""
    columns = ("Chairman", "Used its own", "Expected", "Own answer", "Read first")
    rows = [_chairman_row(bias, one) for one in bias.report.chairmen]
    return number_table((*columns, "Departs", "Then right"), rows) if rows else None


def _chairman_row(bias: BiasView, one: ChairmanBias) -> tuple[str, ...]:
    return (
        bias.name(one.chairman),
        _rate_cell(one.own_used),
        "–" if one.own_expected is None else percent(one.own_expected),
        _factor_cell(one.own),
        _factor_cell(one.early),
        _rate_cell(one.departs),
        _rate_cell(one.backed),
    )


def _odds_text(effect: Effect) -> str:
    """Return log-odds as a factor on the odds, with p: "odds × 2.1, 1.5 to 3.0, p .003"."""
    value, within = _factors(effect)
    return f"odds {value}, {within}, {p_text(effect)}"


def _factor_cell(effect: Effect) -> str:
    """Return log-odds as a factor on the odds: "× 2.1 (1.5 to 3.0)"; * is beyond chance."""
    if effect.value is None:
        return TOO_LITTLE
    value, within = _factors(effect)
    star = "\u00a0*" if effect.is_found else ""
    return f"{value} ({within}){star}"


def _factors(effect: Effect) -> tuple[str, str]:
    value, low, high = (
        f"{exp(min(end, _MAX_LOG)):.1f}" for end in (effect.value or 0.0, *(effect.interval or ()))
    )
    return f"× {value}", f"{low} to {high}"


_MAX_LOG = 9.0  # larger factors are as good as infinite
