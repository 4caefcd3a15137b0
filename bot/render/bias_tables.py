"""Tables and notes of a bias report: judges, audit ballots, winning traits, figure data."""

from collections.abc import Iterator

from bot.chat import Table
from bot.render.bias_view import (
    ALL_MEASURES,
    KEPT,
    POSITION,
    TOO_LITTLE,
    BiasView,
    Measure,
    certainty_text,
    family_name,
    interval_text,
    judge_measures,
    needed_text,
    number_text,
    p_text,
    sample_text,
)
from bot.render.formatting import count_noun, join_words, money
from bot.render.leaderboard_tables import percent
from council.bias.report import Effect, JudgeBias, Trait

# Cautions

_FEW_ROUNDS = 30  # fewer rounds are too few for most findings
_MIN_INDEPENDENT_SHARE = (
    0.6  # of the judges: where fewer count as independent, they vote much alike
)


def caution_lines(bias: BiasView) -> Iterator[str]:
    """Yield what weakens the report: a majority family, dependent judges, few rounds."""
    report = bias.report
    if report.majority:
        yield (
            f"One family, {family_name(report.majority)}, holds most of the seats: where it likes "
            "its own kind, the others are outvoted."
        )
    judges = len(report.judges)
    if report.n_eff is not None and report.n_eff < _MIN_INDEPENDENT_SHARE * judges:
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


# Audit ballots

_AUDIT_KINDS = {
    "own": "with the own answer shown",
    "order": "with the same answers in another order",
    "named": "with the authors’ names shown",
}
_TURN_OFF_HINT = (
    "“audit_share = 0” for a panel in council.toml has none cast; a larger share settles more."
)
_NO_AUDITS = (
    "No audit ballots were cast, so self-preference, order consistency and what names change are "
    "not known: “audit_share = 0.2” for a panel in council.toml has one cast in a round of five."
)


def audit_lines(bias: BiasView) -> Iterator[str]:
    """Yield how many audit ballots were cast, their cost, and how to turn them off."""
    audits = {kind: number for kind, number in bias.report.audits.items() if number}
    if not audits:
        yield _NO_AUDITS
        return
    kinds = join_words(
        f"{number:,} {_AUDIT_KINDS.get(kind, f'of the kind {kind}')}"
        for kind, number in sorted(audits.items(), key=lambda pair: -pair[1])
    )
    total = count_noun(sum(audits.values()), "audit ballot")
    yield f"{total}, cast to measure bias and never counted: {kinds}. {_audit_cost(bias)}"
    if spoiled := bias.report.spoiled_audits:
        yield f"{spoiled:,} more could not be read, and measured nothing."
    yield _TURN_OFF_HINT


def _audit_cost(bias: BiasView) -> str:
    usd, unpriced = bias.report.audit_usd, bias.report.unpriced
    if usd is None:
        return "What they cost is not known."
    addition = f", beside {unpriced:,} whose cost is not known" if unpriced else ""
    return f"They cost {money(usd)} in all{addition}."


# Winning traits

_TRAIT_COLUMNS = (
    "Trait",
    "Winners",
    "The rest",
    "Difference",
    "95 % interval",
    "Over",
    "p, Holm",
    "To settle it",
)
_LENGTH = "length"
WINNING_NOTE = (
    "Winners are the answers that came first in their round, the rest all others. "
    "A difference is no proof that judges reward the trait: good answers may simply have it."
)


def winning_lines(bias: BiasView) -> Iterator[str]:
    """Yield which traits winners have more or less of, beyond chance."""
    for trait in bias.report.traits:
        if trait.difference.is_found:
            yield _winning_line(trait)


def winning_table(bias: BiasView) -> Table | None:
    """Return every trait of winners and of the rest; None if none is known."""
    if not bias.report.traits:
        return None
    rows = tuple(map(_trait_row, bias.report.traits))
    return Table(_TRAIT_COLUMNS, rows, frozenset(range(1, len(_TRAIT_COLUMNS))))


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
    effect = trait.difference
    value = TOO_LITTLE if effect.value is None else _signed_trait_number(trait, effect.value)
    interval = interval_text(effect.interval, lambda number: _signed_trait_number(trait, number))
    return (
        "length, tokens" if trait.name == _LENGTH else trait.name,
        _trait_cell(trait, trait.winners),
        _trait_cell(trait, trait.rest),
        value,
        interval,
        sample_text(effect),
        p_text(effect),
        needed_text(effect),
    )


def _trait_cell(trait: Trait, number: float | None) -> str:
    return TOO_LITTLE if number is None else _trait_number(trait, number)


def _trait_number(trait: Trait, number: float) -> str:
    """Return a number of a trait: tokens, or the share of answers that have it."""
    # Round first, so that a zero never has a sign.
    text = f"{round(number):,}" if trait.name == _LENGTH else percent(round(number, 2) + 0.0)
    return text.replace("-", "−")


def _signed_trait_number(trait: Trait, number: float) -> str:
    text = _trait_number(trait, number)
    return text if text.startswith("−") else f"+{text}"


# Tables of judges

_NO_VALUE = "–"
_FOUND_MARK = "\u00a0*"
_SIDE_BY_SIDE_MEASURES = tuple(measure for measure in ALL_MEASURES if measure is not POSITION)
_MEASURE_COLUMNS = ("Measure", "Effect", "95 % interval", "Over", "p, Holm", "To settle it")


def judges_table(bias: BiasView) -> Table:
    """Return what is known of all judges, a row each; * marks what is beyond chance."""
    measures = [measure for measure in _SIDE_BY_SIDE_MEASURES if _is_measured(bias, measure)]
    rows = tuple(
        (bias.name(judge.judge), *(_measure_cell(bias, judge, measure) for measure in measures))
        for judge in bias.report.judges
    )
    heads = ("Judge", *(measure.title for measure in measures))
    return Table(heads, rows, frozenset(range(1, len(heads))))


def judge_table(bias: BiasView, judge: JudgeBias) -> Table:
    """Return all measures of a judge, a row each; without a family, no family measures."""
    measures = (x for x in judge_measures(judge) if not x.is_of_family or bias.has_family(judge))
    rows = tuple(_measure_row(judge, measure) for measure in measures)
    return Table(_MEASURE_COLUMNS, rows, frozenset(range(1, len(_MEASURE_COLUMNS))))


def given_table(bias: BiasView) -> Table:
    """Return the mean share each judge gave each author, and over how many ballots."""
    authors = [*dict.fromkeys(one.author for one in bias.report.given)]
    cells = {(one.judge, one.author): one for one in bias.report.given}
    judges = [*dict.fromkeys(one.judge for one in bias.report.given)]
    rows = []
    for judge in judges:
        row = [cells.get((judge, author)) for author in authors]
        rows.append(
            (
                bias.name(judge),
                *(
                    f"{number_text(x.share)} (n {x.n:,})" if x and x.share is not None else ""
                    for x in row
                ),
            )
        )
    heads = ("Judge", *map(bias.name, authors))
    return Table(heads, tuple(rows), frozenset(range(1, len(heads))))


def slots_table(bias: BiasView) -> Table:
    """Return the share each judge gave what it saw at each slot, beyond one half."""
    slot_count = max(
        (slot.number for judge in bias.report.judges for slot in judge.slots), default=0
    )
    heads = ("Judge", *(f"Slot {number}" for number in range(1, slot_count + 1)))
    rows = tuple(
        (bias.name(judge.judge), *_slot_cells(judge, slot_count)) for judge in bias.report.judges
    )
    return Table(heads, rows, frozenset(range(1, len(heads))))


def kept_table(bias: BiasView) -> Table:
    """Return the share of pair orders each judge kept."""
    rows = []
    for judge in bias.report.judges:
        row = _measure_row(judge, KEPT)
        rows.append((bias.name(judge.judge), *row[1:4]))
    return Table(
        ("Judge", "Orders kept", "95 % interval", "Over"), tuple(rows), frozenset({1, 2, 3})
    )


def _is_measured(bias: BiasView, measure: Measure) -> bool:
    return any(measure.of(judge).n for judge in bias.report.judges)


def _slot_cells(judge: JudgeBias, slot_count: int) -> Iterator[str]:
    by_number = {slot.number: slot.effect for slot in judge.slots}
    for number in range(1, slot_count + 1):
        effect = by_number.get(number)
        yield "" if effect is None else _value_with_interval(effect)


def _value_with_interval(effect: Effect) -> str:
    if effect.value is None:
        return TOO_LITTLE
    within = f" ({interval_text(effect.interval)})" if effect.interval else ""
    return f"{number_text(effect.value)}{within}"


def _measure_cell(bias: BiasView, judge: JudgeBias, measure: Measure) -> str:
    effect = measure.of(judge)
    if measure.is_of_family and not bias.has_family(judge):
        return _NO_VALUE
    if effect.value is None:
        return TOO_LITTLE
    return f"{measure.format(effect.value)}{_FOUND_MARK if effect.is_found else ''}"


def _measure_row(judge: JudgeBias, measure: Measure) -> tuple[str, ...]:
    effect = measure.of(judge)
    value = TOO_LITTLE if effect.value is None else measure.format(effect.value)
    return (
        measure.title,
        value,
        interval_text(effect.interval, measure.format),
        sample_text(effect),
        p_text(effect),
        needed_text(effect),
    )
