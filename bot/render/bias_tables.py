"""What makes a report weaker than it looks, said before its tables."""

from collections.abc import Iterator

from bot.chat import Table
from bot.render.bias_view import (
    ALL_MEASURES,
    KEPT,
    POSITION,
    TOO_LITTLE,
    Measure,
    ShownBias,
    certainty_text,
    family_name,
    interval_text,
    judge_measures,
    needed_text,
    number_text,
    p_text,
    sample_text,
)
from bot.render.formatting import counted, listed, money
from bot.render.leaderboard_tables import percent
from council.bias.report import Effect, JudgeBias, Trait

# --- What makes a report weaker than it looks, said before its tables.

_FEW_ROUNDS = 30  # rounds below which most of it cannot be told
_MIN_INDEPENDENT_SHARE = (
    0.6  # of the judges: where fewer count as independent, they vote much alike
)


def caution_lines(shown: ShownBias) -> Iterator[str]:
    """Say who holds the majority, how many judges there really are, and what is too small."""
    report = shown.report
    if report.majority:
        yield (
            f"One family, {family_name(report.majority)}, holds most of the seats: where it likes "
            "its own kind, the others are outvoted."
        )
    judges = len(report.judges)
    if report.n_eff is not None and report.n_eff < _MIN_INDEPENDENT_SHARE * judges:
        yield (
            f"The judges vote much alike: {counted(judges, 'judge')} count as about "
            f"{report.n_eff:.1f} independent ones (N_eff)."
        )
    if judges == 1:
        yield "There is one judge alone, so nobody to compare it with."
    if report.rounds < _FEW_ROUNDS:
        yield (
            f"{counted(report.rounds, 'round')} {'is' if report.rounds == 1 else 'are'} few: "
            f"most biases need {_FEW_ROUNDS} or more to be told from chance."
        )


def agreement_line(shown: ShownBias) -> str:
    """Say how far all judges agree, and as how many they count; "" where that is not known."""
    report = shown.report
    parts = []
    if report.alpha is not None:
        parts.append(
            f"Krippendorff’s α over all ballots is {number_text(report.alpha)}; 0 is chance."
        )
    if report.n_eff is not None:
        judges = counted(len(report.judges), "judge")
        parts.append(f"The {judges} count as {report.n_eff:.1f} independent ones (N_eff).")
    elif report.rounds:
        parts.append("N_eff is given from thirty rounds of a panel on.")
    return " ".join(parts)


# --- The audit ballots: how many of each kind were cast, what they cost, and how to have none.

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


def audit_lines(shown: ShownBias) -> Iterator[str]:
    """Say how many audit ballots were cast, what they cost, and how they are turned off."""
    audits = {kind: number for kind, number in shown.report.audits.items() if number}
    if not audits:
        yield _NO_AUDITS
        return
    kinds = listed(
        f"{number:,} {_AUDIT_KINDS.get(kind, f'of the kind {kind}')}"
        for kind, number in sorted(audits.items(), key=lambda pair: -pair[1])
    )
    total = counted(sum(audits.values()), "audit ballot")
    yield f"{total}, cast to measure bias and never counted: {kinds}. {_audit_cost(shown)}"
    if spoiled := shown.report.spoiled_audits:
        yield f"{spoiled:,} more could not be read, and measured nothing."
    yield _TURN_OFF_HINT


def _audit_cost(shown: ShownBias) -> str:
    usd, unpriced = shown.report.audit_usd, shown.report.unpriced
    if usd is None:
        return "What they cost is not known."
    beside = f", beside {unpriced:,} whose cost is not known" if unpriced else ""
    return f"They cost {money(usd)} in all{beside}."


# --- What wins here: how answers that win differ from the rest, in length and style.

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
HOW = (
    "Winners are the answers that came first in their round, the rest all others. "
    "A difference is no proof that judges reward the trait: good answers may simply have it."
)


def winning_lines(shown: ShownBias) -> Iterator[str]:
    """Say which traits winners have more or less of, beyond chance."""
    for trait in shown.report.traits:
        if trait.difference.is_found:
            yield _winning_line(trait)


def winning_table(shown: ShownBias) -> Table | None:
    """Give every trait of winners and of the rest; None where none is known."""
    if not shown.report.traits:
        return None
    rows = tuple(map(_trait_row, shown.report.traits))
    return Table(_TRAIT_COLUMNS, rows, frozenset(range(1, len(_TRAIT_COLUMNS))))


def _winning_line(trait: Trait) -> str:
    found = trait.difference
    sure = certainty_text(found, lambda number: _signed_trait_number(trait, number))
    winners, rest = _trait_cell(trait, trait.winners), _trait_cell(trait, trait.rest)
    less = (found.value or 0) < 0
    if trait.name == _LENGTH:
        side = "shorter" if less else "longer"
        return f"Winners are {side} than the rest: {winners} tokens against {rest} {sure}."
    often = "less often" if less else "more often"
    shares = f"{winners} of them against {rest}"
    return f"Winners have {trait.name} {often} than the rest: {shares} {sure}."


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
    """Give a number of a trait: tokens, or the share of answers that have it."""
    # Rounded first, so that no nothing has a sign.
    said = f"{round(number):,}" if trait.name == _LENGTH else percent(round(number, 2) + 0.0)
    return said.replace("-", "−")


def _signed_trait_number(trait: Trait, number: float) -> str:
    said = _trait_number(trait, number)
    return said if said.startswith("−") else f"+{said}"


# --- A bias report as tables: judges side by side, each by itself, and what the figures show.

_NO_VALUE = "–"
_FOUND_MARK = "\u00a0*"
_SIDE_BY_SIDE_MEASURES = tuple(measure for measure in ALL_MEASURES if measure is not POSITION)
_MEASURE_COLUMNS = ("Measure", "Effect", "95 % interval", "Over", "p, Holm", "To settle it")


def side_by_side(shown: ShownBias) -> Table:
    """Give what is known of every judge, a row each; * is what is beyond chance."""
    told = [measure for measure in _SIDE_BY_SIDE_MEASURES if _is_measured(shown, measure)]
    rows = tuple(
        (shown.name(judge.judge), *(_measure_cell(shown, judge, measure) for measure in told))
        for judge in shown.report.judges
    )
    heads = ("Judge", *(measure.title for measure in told))
    return Table(heads, rows, frozenset(range(1, len(heads))))


def judge_table(shown: ShownBias, judge: JudgeBias) -> Table:
    """Give all that is measured of a judge, a row a measure; without a family none of it."""
    told = (x for x in judge_measures(judge) if not x.is_of_family or shown.has_family(judge))
    rows = tuple(_measure_row(judge, measure) for measure in told)
    return Table(_MEASURE_COLUMNS, rows, frozenset(range(1, len(_MEASURE_COLUMNS))))


def given_table(shown: ShownBias) -> Table:
    """Give the mean share each judge gave each author, over how many ballots."""
    authors = [*dict.fromkeys(one.author for one in shown.report.given)]
    cells = {(one.judge, one.author): one for one in shown.report.given}
    judges = [*dict.fromkeys(one.judge for one in shown.report.given)]
    rows = []
    for judge in judges:
        found = [cells.get((judge, author)) for author in authors]
        rows.append(
            (
                shown.name(judge),
                *(
                    f"{number_text(x.share)} (n {x.n:,})" if x and x.share is not None else ""
                    for x in found
                ),
            )
        )
    heads = ("Judge", *map(shown.name, authors))
    return Table(heads, tuple(rows), frozenset(range(1, len(heads))))


def slots_table(shown: ShownBias) -> Table:
    """Give what each judge gave what it saw at each slot, beyond one half."""
    most = max((slot.number for judge in shown.report.judges for slot in judge.slots), default=0)
    heads = ("Judge", *(f"Slot {number}" for number in range(1, most + 1)))
    rows = tuple(
        (shown.name(judge.judge), *_slot_cells(judge, most)) for judge in shown.report.judges
    )
    return Table(heads, rows, frozenset(range(1, len(heads))))


def kept_table(shown: ShownBias) -> Table:
    """Give how many orders of pairs each judge kept."""
    rows = []
    for judge in shown.report.judges:
        row = _measure_row(judge, KEPT)
        rows.append((shown.name(judge.judge), *row[1:4]))
    return Table(
        ("Judge", "Orders kept", "95 % interval", "Over"), tuple(rows), frozenset({1, 2, 3})
    )


def _is_measured(shown: ShownBias, measure: Measure) -> bool:
    return any(measure.of(judge).n for judge in shown.report.judges)


def _slot_cells(judge: JudgeBias, most: int) -> Iterator[str]:
    by_number = {slot.number: slot.effect for slot in judge.slots}
    for number in range(1, most + 1):
        effect = by_number.get(number)
        yield "" if effect is None else _value_with_interval(effect)


def _value_with_interval(effect: Effect) -> str:
    if effect.value is None:
        return TOO_LITTLE
    within = f" ({interval_text(effect.interval)})" if effect.interval else ""
    return f"{number_text(effect.value)}{within}"


def _measure_cell(shown: ShownBias, judge: JudgeBias, measure: Measure) -> str:
    effect = measure.of(judge)
    if measure.is_of_family and not shown.has_family(judge):
        return _NO_VALUE
    if effect.value is None:
        return TOO_LITTLE
    return f"{measure.reads(effect.value)}{_FOUND_MARK if effect.is_found else ''}"


def _measure_row(judge: JudgeBias, measure: Measure) -> tuple[str, ...]:
    effect = measure.of(judge)
    value = TOO_LITTLE if effect.value is None else measure.reads(effect.value)
    return (
        measure.title,
        value,
        interval_text(effect.interval, measure.reads),
        sample_text(effect),
        p_text(effect),
        needed_text(effect),
    )
