"""Tables and notes of a bias report: judges, audit ballots, winning traits, figure data."""

from collections.abc import Iterator
from functools import partial

from bot.chat import Table
from bot.render.bias_view import (
    ALL_MEASURES,
    EFFECT_COLUMNS,
    KEPT,
    POSITION,
    TOO_LITTLE,
    BiasView,
    Measure,
    certainty_text,
    effect_cells,
    family_name,
    interval_text,
    judge_measures,
    number_text,
)
from bot.render.formatting import count_noun, join_words, money, number_table
from bot.render.leaderboard_tables import percent
from council.bias.report import Effect, JudgeBias, Trait

# --- Cautions

_FEW_ROUNDS = 30  # fewer rounds are too few for most findings


def caution_lines(bias: BiasView) -> Iterator[str]:
    """Yield what weakens the report: a majority family, dependent judges, few rounds."""
    report = bias.report
    if report.majority:
        yield (
            f"One family, {family_name(report.majority)}, holds most of the seats: where it likes "
            "its own kind, the others are outvoted."
        )
    judges = len(report.judges)
    if report.n_eff is not None and report.n_eff < 0.6 * judges:
        yield (
            f"The judges vote much alike: {count_noun(judges, 'judge')} count as about "
            f"{report.n_eff:.1f} independent ones (N_eff)."
        )
    if judges == 1:
        yield "There is one judge alone, so nobody to compare it with."
    if report.rounds < _FEW_ROUNDS:
        yield (
            f"{count_noun(report.rounds, 'round')} {'is' if report.rounds == 1 else 'are'} few: "
            f"most biases need {_FEW_ROUNDS} or more to be told from chance."
        )


def agreement_line(bias: BiasView) -> str:
    """Return how far all judges agree, and as how many they count; "" if unknown."""
    report = bias.report
    parts = []
    if report.alpha is not None:
        parts.append(
            f"Krippendorff’s α over all ballots is {number_text(report.alpha)}; 0 is chance."
        )
    if report.n_eff is not None:
        judges = count_noun(len(report.judges), "judge")
        parts.append(f"The {judges} count as {report.n_eff:.1f} independent ones (N_eff).")
    elif report.rounds:
        parts.append("N_eff is given from thirty rounds of a panel on.")
    return " ".join(parts)


# --- Audit ballots

_AUDIT_KINDS = {
    "own": "with the own answer shown",
    "order": "with the same answers in another order",
    "named": "with the authors’ names shown",
}


def audit_lines(bias: BiasView) -> Iterator[str]:
    """Yield how many audit ballots were cast, their cost, and how to turn them off."""
    audits = {kind: number for kind, number in bias.report.audits.items() if number}
    if not audits:
        yield (
            "No audit ballots were cast, so self-preference, order consistency and what names "
            "change are not known: “audit_share = 0.2” for a panel in council.toml has one cast "
            "in a round of five."
        )
        return
    kinds = join_words(
        f"{number:,} {_AUDIT_KINDS.get(kind, f'of the kind {kind}')}"
        for kind, number in sorted(audits.items(), key=lambda pair: -pair[1])
    )
    total = count_noun(sum(audits.values()), "audit ballot")
    yield f"{total}, cast to measure bias and never counted: {kinds}. {_audit_cost(bias)}"
    if spoiled := bias.report.spoiled_audits:
        yield f"{spoiled:,} more could not be read, and measured nothing."
    yield (
        "“audit_share = 0” for a panel in council.toml has none cast; a larger share settles more."
    )


def _audit_cost(bias: BiasView) -> str:
    usd, unpriced = bias.report.audit_usd, bias.report.unpriced
    if usd is None:
        return "What they cost is not known."
    addition = f", beside {unpriced:,} whose cost is not known" if unpriced else ""
    return f"They cost {money(usd)} in all{addition}."


# --- Winning traits

_LENGTH = "length"
WINNING_NOTE = (
    "Winners are the answers that came first in their round, the rest all others. "
    "A difference is no proof that judges reward the trait: good answers may simply have it."
)


def winning_lines(bias: BiasView) -> Iterator[str]:
    """Yield which traits winners have more or less of, beyond chance."""
    yield from (_winning_line(trait) for trait in bias.report.traits if trait.difference.is_found)


def winning_table(bias: BiasView) -> Table | None:
    """Return every trait of winners and of the rest; None if none is known."""
    columns = ("Trait", "Winners", "The rest", "Difference", *EFFECT_COLUMNS)
    rows = [*map(_trait_row, bias.report.traits)]
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


def judges_table(bias: BiasView) -> Table:
    """Return what is known of all judges, a row each; * marks what is beyond chance."""
    judges = bias.report.judges
    measures = [
        measure
        for measure in ALL_MEASURES
        if measure is not POSITION and any(measure.of(judge).n for judge in judges)
    ]
    return number_table(
        ("Judge", *(measure.title for measure in measures)),
        (
            (bias.name(judge.judge), *(_measure_cell(bias, judge, measure) for measure in measures))
            for judge in judges
        ),
    )


def judge_table(bias: BiasView, judge: JudgeBias) -> Table:
    """Return all measures of a judge, a row each; without a family, no family measures."""
    measures = (x for x in judge_measures(judge) if not x.is_of_family or bias.has_family(judge))
    rows = (_measure_row(judge, measure) for measure in measures)
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
    return number_table(("Judge", *(f"Slot {n}" for n in range(1, last + 1))), rows)


def kept_table(bias: BiasView) -> Table:
    """Return the share of pair orders each judge kept."""
    rows = ((bias.name(x.judge), *_measure_row(x, KEPT)[1:4]) for x in bias.report.judges)
    return number_table(("Judge", "Orders kept", "95 % interval", "Over"), rows)


def _value_with_interval(effect: Effect) -> str:
    if effect.value is None:
        return TOO_LITTLE
    within = f" ({interval_text(effect.interval)})" if effect.interval else ""
    return f"{number_text(effect.value)}{within}"


def _measure_cell(bias: BiasView, judge: JudgeBias, measure: Measure) -> str:
    effect = measure.of(judge)
    if measure.is_of_family and not bias.has_family(judge):
        return "–"
    if effect.value is None:
        return TOO_LITTLE
    return measure.format(effect.value) + ("\u00a0*" if effect.is_found else "")


def _measure_row(judge: JudgeBias, measure: Measure) -> tuple[str, ...]:
    return (measure.title, *effect_cells(measure.of(judge), measure.format))
