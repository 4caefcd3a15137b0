"""Findings of a bias report as sentences: proven, possible, ruled out, and still open."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import exp, tanh

from bot.render.bias_view import (
    AGREEMENT,
    ALL_MEASURES,
    FAMILY,
    FIRST_SLOT,
    KEPT,
    LENGTH,
    NAMED,
    OWN,
    POSITION,
    BiasView,
    Measure,
    brand_lines,
    certainty_text,
    excludes_zero,
    magnitude_text,
    number_text,
    p_text,
    rough_count,
)
from bot.render.formatting import count_noun, join_words, ordinal
from bot.render.leaderboard_tables import Coverage, no_rounds_line, percent, signed_number
from council.bakeoffs.leaderboard import MAX_POSITION_BIAS
from council.bias.report import Effect, JudgeBias

_STEADY = 0.9  # of pairs; a judge is named if its interval is below
_COIN_SHARE = 0.5
_MANY_SPOILED_SHARE = 0.1
_ORDINALS = {1: "first", 2: "second", 3: "third"}


NO_BIAS_FOUND = "No bias of a judge was found beyond chance yet."
MIN_BALLOTS = 10  # audit ballots needed for a finding on order consistency
_SMALL_BIAS = 0.10  # an interval within this share of 0 rules out bias
FINDINGS_NOTE = (
    "Found is what stays beyond chance when all that is tested is taken into account "
    "(p at most .05, after Holm). Shares are of rivals beaten: 0 is last, 1 is first."
)


def findings(bias: BiasView) -> tuple[str, ...]:
    """Return every finding, the proven ones first."""
    proven = [*found_lines(bias), *brand_lines(bias)] or [NO_BIAS_FOUND]
    return (*proven, *_sign_lines(bias), *none_lines(bias), *open_lines(bias))


def bias_coverage_line(bias: BiasView) -> str:
    """Return what was examined, or what to do if no round fits."""
    coverage, report = bias.coverage, bias.report
    if not report.rounds:
        return no_rounds_line(coverage)
    rounds = count_noun(report.rounds, "closed round")
    ballots = count_noun(report.ballots, "ballot")
    parts = [f"Over {rounds} with {ballots}", *_filter_texts(coverage)]
    return f"{', '.join(parts)}."


def _filter_texts(coverage: Coverage) -> Iterator[str]:
    if coverage.suite:
        yield f"suite {coverage.suite} in all its versions"
    if coverage.category:
        yield f"category {coverage.category}"
    if coverage.panel:
        yield f"panel {coverage.panel}"
    window = []
    if coverage.since:
        window.append(f"since {coverage.since:%Y-%m-%d}")
    if coverage.before:
        window.append(f"until {coverage.before - timedelta(microseconds=1):%Y-%m-%d}")
    if window:
        yield f"asked {join_words(window)}"


# --- Findings beyond chance


def found_lines(bias: BiasView) -> Iterator[str]:
    """Yield what is proven, measure by measure."""
    for render in (
        _own_lines,
        _family_lines,
        _position_lines,
        _consistency_lines,
        _length_lines,
        _style_lines,
        _names_shown_lines,
        _agreement_lines,
        _spoiled_lines,
    ):
        for judge in bias.report.judges:
            yield from render(bias, judge)


def _higher_or_lower(effect: Effect) -> str:
    """Return "HOW MUCH higher" or "HOW MUCH lower"."""
    return f"{magnitude_text(effect.value or 0)} {'lower' if (effect.value or 0) < 0 else 'higher'}"


def _certainty(effect: Effect) -> str:
    return certainty_text(effect, is_negated=(effect.value or 0) < 0)


def _own_lines(bias: BiasView, judge: JudgeBias) -> Iterator[str]:
    if judge.own.is_found:
        yield (
            f"{bias.name(judge.judge)} ranks its own answer {_higher_or_lower(judge.own)} than "
            f"the others do {_certainty(judge.own)}."
        )


def _family_lines(bias: BiasView, judge: JudgeBias) -> Iterator[str]:
    if judge.family.is_found:
        yield (
            f"{bias.name(judge.judge)} ranks the rest of its family ({bias.maker(judge)}) "
            f"{_higher_or_lower(judge.family)} than the others do {_certainty(judge.family)}."
        )


def _names_shown_lines(bias: BiasView, judge: JudgeBias) -> Iterator[str]:
    if judge.named.is_found:
        yield (
            f"{bias.name(judge.judge)} ranks its family ({bias.maker(judge)}) "
            f"{_higher_or_lower(judge.named)} when it sees the names {_certainty(judge.named)}: "
            "blinding takes that away."
        )


def _position_lines(bias: BiasView, judge: JudgeBias) -> Iterator[str]:
    """Yield the slot a judge favours or dislikes most, once, however it was tested."""
    if judge.position.is_found:
        effect, slot = judge.position, _strongest_slot(judge)
        certainty = ", ".join(filter(None, (f"n {effect.n:,}", p_text(effect))))
        yield (
            f"{bias.name(judge.judge)} follows the order it is shown: what it sees {slot} it "
            f"ranks {_higher_or_lower(effect)} than chance would "
            f"({certainty}){_hardly_matters(effect)}."
        )
    elif judge.first_slot.is_found:
        yield (
            f"{bias.name(judge.judge)} ranks what it sees first "
            f"{_higher_or_lower(judge.first_slot)} than "
            f"chance would {_certainty(judge.first_slot)}."
        )


def _hardly_matters(effect: Effect) -> str:
    """Return a clause if the effect is certain but too small to matter."""
    return ", which hardly matters" if abs(effect.value or 0) <= MAX_POSITION_BIAS else ""


def _strongest_slot(judge: JudgeBias) -> str:
    slots = [slot for slot in judge.slots if slot.effect.value is not None]
    if not slots:
        return "at one place"
    number = max(slots, key=lambda slot: abs(slot.effect.value or 0)).number
    return _ORDINALS.get(number, ordinal(number))


def _consistency_lines(bias: BiasView, judge: JudgeBias) -> Iterator[str]:
    kept = judge.kept
    if kept.value is None or kept.interval is None or kept.n < MIN_BALLOTS:
        return
    if kept.interval[1] >= _STEADY:
        return
    no_better = ", not told from a coin" if kept.interval[0] <= _COIN_SHARE else ""
    yield (
        f"{bias.name(judge.judge)} keeps {percent(kept.value)} of its orders of pairs when it "
        f"sees the same answers in another order{no_better} {certainty_text(kept, percent)}."
    )


def _length_lines(bias: BiasView, judge: JudgeBias) -> Iterator[str]:
    effect = judge.length
    if effect.is_found and effect.value is not None:
        longer = "longer" if effect.value > 0 else "shorter"
        yield (
            f"{bias.name(judge.judge)} favours {longer} answers: one {longer} by a standard "
            f"deviation beats its equal {percent(_win_chance(abs(effect.value)))} of the time "
            f"{_phi_certainty(effect)}."
        )


def _phi_certainty(effect: Effect) -> str:
    return certainty_text(effect).replace("(", f"(φ {magnitude_text(effect.value or 0)}, ", 1)


def _win_chance(phi: float) -> float:
    """Return how often an answer wins that is longer by one standard deviation."""
    return 1 / (1 + exp(-phi * tanh(1)))


def _style_lines(bias: BiasView, judge: JudgeBias) -> Iterator[str]:
    for trait, effect in judge.style.items():
        if effect.is_found and effect.value is not None:
            does = "favours" if effect.value > 0 else "marks down"
            yield (
                f"{bias.name(judge.judge)} {does} answers with {trait}, by "
                f"{magnitude_text(effect.value)} in log-odds beside length {_certainty(effect)}."
            )


def _agreement_lines(bias: BiasView, judge: JudgeBias) -> Iterator[str]:
    effect = judge.agreement
    if effect.value is not None and effect.value < 0 and excludes_zero(effect):
        yield (
            f"{bias.name(judge.judge)} ranks against the other judges: mean τ "
            f"{number_text(effect.value)} {certainty_text(effect)}."
        )


def _spoiled_lines(bias: BiasView, judge: JudgeBias) -> Iterator[str]:
    effect = judge.spoiled
    if effect.value is not None and effect.interval and effect.interval[0] > _MANY_SPOILED_SHARE:
        yield (
            f"{bias.name(judge.judge)} spoils {percent(effect.value)} of its ballots "
            f"{certainty_text(effect, percent)}: the fewer are left to judge it by."
        )


# --- Possible, ruled out and open


@dataclass(frozen=True, slots=True)
class _Question:
    """A possible bias and its measure; a finding by `settled_by` settles it too.

    If `can_be_none`, an interval close to 0 rules it out. `unmeasured` is the reason why nothing
    could be measured, if it is not a lack of data.
    """

    noun: str
    measure: Measure
    settled_by: Measure
    can_be_none: bool = True
    unmeasured: str = ""


_QUESTIONS = (
    _Question("self-preference", OWN, OWN),
    _Question("family preference", FAMILY, FAMILY),
    _Question("a fondness for the first slot", FIRST_SLOT, POSITION),
    _Question("order consistency", KEPT, KEPT, can_be_none=False),
    _Question("length bias", LENGTH, LENGTH, can_be_none=False),
    _Question("an effect of names", NAMED, NAMED),
    _Question(
        "agreement with the others",
        AGREEMENT,
        AGREEMENT,
        unmeasured="no two judges of a round have ranked two of the same answers",
    ),
)


def _sign_lines(bias: BiasView) -> Iterator[str]:
    """Yield what is beyond chance by itself, but not after Holm's correction."""
    for question in _QUESTIONS:
        judges = [judge for judge in bias.report.judges if _is_sign(question, judge)]
        if judges:
            names = (_signed_judge(bias, question, judge) for judge in judges)
            each = "each" if len(judges) > 1 else "it"
            yield (
                f"Perhaps {question.noun} in {join_words(names)}: by itself {each} would be beyond "
                "chance, among all that is tested it may be chance."
            )


def none_lines(bias: BiasView) -> Iterator[str]:
    """Yield which biases are ruled out, in which judges."""
    for question in _QUESTIONS:
        judges = [judge for judge in bias.report.judges if _is_ruled_out(question, judge)]
        if judges:
            noun = question.noun[0].upper() + question.noun[1:]
            names = _judge_names(bias, judges)
            yield f"{noun}: none beyond ±{magnitude_text(_SMALL_BIAS)} in {names}."


def open_lines(bias: BiasView) -> Iterator[str]:
    """Yield what is still unknown, of which judges, and how much more data would settle it."""
    unmeasured = [judge for judge in bias.report.judges if _has_no_data(judge)]
    measured = [judge for judge in bias.report.judges if judge not in unmeasured]
    for question in _QUESTIONS:
        judges = [judge for judge in measured if _is_open(bias, question, judge)]
        if judges:
            names = _judge_names(bias, judges)
            effects = [question.measure.of(judge) for judge in judges]
            needed = _needed_text(effects, question.unmeasured)
            yield f"Too little to say yet about {question.noun} in {names}{needed}."
    if unmeasured:
        yield f"Nothing is known yet of {_judge_names(bias, unmeasured)}."


def _judge_names(bias: BiasView, judges: Sequence[JudgeBias]) -> str:
    """Return the names of judges, or "any judge" for all of several."""
    if len(judges) == len(bias.report.judges) > 1:
        return "any judge"
    return join_words(bias.name(judge.judge) for judge in judges)


def _signed_judge(bias: BiasView, question: _Question, judge: JudgeBias) -> str:
    return f"{bias.name(judge.judge)} ({signed_number(question.measure.of(judge).value or 0)})"


def _has_no_data(judge: JudgeBias) -> bool:
    return not any(measure.of(judge).n for measure in ALL_MEASURES)


def _is_settled(question: _Question, judge: JudgeBias) -> bool:
    """Return whether the bias is proven; one never tested is, by its interval."""
    effects = question.measure.of(judge), question.settled_by.of(judge)
    return any(
        effect.is_found or (effect.p is None and excludes_zero(effect)) for effect in effects
    )


def _is_sign(question: _Question, judge: JudgeBias) -> bool:
    return excludes_zero(question.measure.of(judge)) and not _is_settled(question, judge)


def _is_ruled_out(question: _Question, judge: JudgeBias) -> bool:
    interval = question.measure.of(judge).interval
    if _is_settled(question, judge) or not interval or not question.can_be_none:
        return False
    return -_SMALL_BIAS <= interval[0] <= 0 <= interval[1] <= _SMALL_BIAS


def _is_open(bias: BiasView, question: _Question, judge: JudgeBias) -> bool:
    if question.measure.is_of_family and not bias.has_family(judge):
        return False
    if question.measure is KEPT:
        return KEPT.of(judge).value is None or KEPT.of(judge).n < MIN_BALLOTS
    answers = (
        _is_settled(question, judge),
        _is_sign(question, judge),
        _is_ruled_out(question, judge),
    )
    return not any(answers)


def _needed_text(effects: Sequence[Effect], unmeasured: str) -> str:
    """Return how much more data would settle it."""
    counts = [effect.more for effect in effects if effect.more]
    units = {effect.unit for effect in effects if effect.more or not counts}
    unit = f" {units.pop()}" if len(units) == 1 else ""
    if counts:
        fewest, most = rough_count(min(counts)), rough_count(max(counts))
        range_ = fewest if fewest == most else f"{fewest} to {most.removeprefix('about ')}"
        if most.startswith("more") and fewest != most:
            range_ = f"from {range_}"
        each = " each" if len(effects) > 1 else ""
        return f": {range_} more{unit}{each} would settle it"
    if any(effect.n for effect in effects):
        return ""
    none = f"there are no{unit or ' ballots'} yet"
    return f": {unmeasured or none}"
