"""Findings of a bias report as sentences: beyond chance, ruled out, and still open."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from math import exp, tanh

from bot.bakeoffs.render.bias_tables import (
    ALL_MEASURES,
    FIRST_SLOT,
    KEPT,
    POSITION,
    PREVENTED,
    BiasView,
    Measure,
    brand_lines,
    certainty_text,
    difference_lines,
    excludes_zero,
    family_name,
    higher_or_lower,
    magnitude_certainty,
    magnitude_text,
    number_text,
    p_text,
    rough_count,
)
from bot.bakeoffs.render.leaderboard_tables import no_rounds_line, percent
from bot.render.formatting import count_noun, join_words, ordinal
from council.bakeoffs.bias.report import JudgeBias

_COIN_SHARE = 0.5
_MANY_SPOILED_SHARE = 0.1
_SEVERAL_JUDGES = 1.4  # widens a 95 % interval, since any of several judges may seem to disagree
NO_BIAS_FOUND = "No judge shows a bias beyond chance so far."
MIN_BALLOTS = 10  # audit ballots needed for a finding on order consistency
_SMALL_BIAS = 0.10  # an interval within this share of 0 rules out bias
FINDINGS_NOTE = (
    "A finding stays beyond chance when all tests are taken into account (p at most .05, after "
    "Holm). Points are the share of rivals beaten: 0 is last, 1 is first."
)


def findings(bias: BiasView) -> tuple[str, ...]:
    """Return every finding: the biases beyond chance, how judges vote, what is ruled out."""
    found = [*bias_lines(bias), *brand_lines(bias)] or [NO_BIAS_FOUND]
    return (*found, *voting_lines(bias), *none_lines(bias))


def bias_coverage_line(bias: BiasView) -> str:
    """Return what was examined, or what to do if no round fits."""
    report = bias.report
    if not report.rounds:
        return no_rounds_line(bias.coverage)
    coverage = bias.coverage
    rounds = count_noun(report.rounds, "finished round")
    parts = [f"Over {rounds} with {count_noun(report.ballots, 'ranking')}", *coverage.filters]
    if coverage.since:
        parts.append(f"since {coverage.since:%Y-%m-%d}")
    if coverage.before:
        parts.append(f"until {coverage.before - timedelta(microseconds=1):%Y-%m-%d}")
    return f"{', '.join(parts)}."


# --- Findings beyond chance


def bias_lines(bias: BiasView) -> Iterator[str]:
    """Yield the biases that stay beyond chance among all tests, measure by measure."""
    yield from preference_lines(bias)
    yield from position_lines(bias)
    yield from _all_lines(bias, _length_lines, _style_lines, _names_shown_lines)


def preference_lines(bias: BiasView) -> Iterator[str]:
    """Yield which judges prefer their own answers or their family's, beyond chance."""
    yield from _all_lines(bias, _own_lines, _family_lines)


def position_lines(bias: BiasView) -> Iterator[str]:
    """Yield which judges are influenced by the order, beyond chance."""
    yield from _all_lines(bias, _position_lines)


def voting_lines(bias: BiasView) -> Iterator[str]:
    """Yield which judges are unsteady, disagree with the others or vote invalidly."""
    yield from consistency_lines(bias)
    yield from _all_lines(bias, _agreement_lines, _spoiled_lines)


def consistency_lines(bias: BiasView) -> Iterator[str]:
    """Yield which judges rank pairs another way when the order changes."""
    yield from _all_lines(bias, _consistency_lines)


def _all_lines(
    bias: BiasView, *renders: Callable[[str, JudgeBias], Iterator[str]]
) -> Iterator[str]:
    for render in renders:
        for judge in bias.report.judges:
            yield from render(bias.name(judge.judge), judge)


def _own_lines(name: str, judge: JudgeBias) -> Iterator[str]:
    yield from difference_lines(f"{name} ranks its own answer", judge.own, "than the others do")


def _family_lines(name: str, judge: JudgeBias) -> Iterator[str]:
    what = f"{name} ranks other models of its family ({family_name(judge.maker)})"
    yield from difference_lines(what, judge.family, "than the others do")


def _names_shown_lines(name: str, judge: JudgeBias) -> Iterator[str]:
    what = f"{name} ranks its family ({family_name(judge.maker)})"
    yield from difference_lines(what, judge.named, "when it sees the names", PREVENTED)


def _position_lines(name: str, judge: JudgeBias) -> Iterator[str]:
    """Yield the slot a judge favours or dislikes most, once, however it was tested."""
    if judge.position.is_found:
        effect = judge.position
        matters = "" if judge.is_position_biased else ", which hardly matters"
        yield (
            f"{name} is influenced by the order: it ranks what it sees {_strongest_slot(judge)} "
            f"{higher_or_lower(effect)} than chance would "
            f"(n {effect.n:,}, {p_text(effect)}){matters}."
        )
    else:
        what = f"{name} ranks what it sees first"
        yield from difference_lines(what, judge.first_slot, "than chance would")


def _strongest_slot(judge: JudgeBias) -> str:
    slots = [slot for slot in judge.slots if slot.effect.value is not None]
    if not slots:
        return "in one position"
    number = max(slots, key=lambda slot: abs(slot.effect.value or 0)).number
    return {1: "first", 2: "second", 3: "third"}.get(number, ordinal(number))


def _consistency_lines(name: str, judge: JudgeBias) -> Iterator[str]:
    kept = judge.kept
    if kept.value is None or kept.interval is None or kept.n < MIN_BALLOTS:
        return
    if kept.interval[1] >= 0.9:  # noqa: PLR2004 - of pairs: such a judge is steady
        return
    no_better = ", no better than chance" if kept.interval[0] <= _COIN_SHARE else ""
    yield (
        f"{name} ranks {percent(kept.value)} of pairs the same way when it sees the same answers "
        f"in another order{no_better} {certainty_text(kept, percent)}."
    )


def _length_lines(name: str, judge: JudgeBias) -> Iterator[str]:
    effect = judge.length
    if effect.is_found and effect.value is not None:
        longer = "longer" if effect.value > 0 else "shorter"
        phi = f"(φ {magnitude_text(effect.value)}, "
        win_chance = 1 / (1 + exp(-abs(effect.value) * tanh(1)))
        yield (
            f"{name} favours {longer} answers: one that is {longer} by a standard deviation "
            f"beats its equal {percent(win_chance)} of the time "
            f"{certainty_text(effect).replace('(', phi, 1)}."
        )


def _style_lines(name: str, judge: JudgeBias) -> Iterator[str]:
    for trait, effect in judge.style.items():
        if effect.is_found and effect.value is not None:
            does = "favours" if effect.value > 0 else "marks down"
            yield (
                f"{name} {does} answers with {trait}, by {magnitude_text(effect.value)} in "
                f"log-odds, adjusted for length {magnitude_certainty(effect)}."
            )


def _agreement_lines(name: str, judge: JudgeBias) -> Iterator[str]:
    effect = judge.agreement
    if effect.value is None or effect.interval is None:
        return
    if effect.value + _SEVERAL_JUDGES * (effect.interval[1] - effect.value) < 0:
        yield (
            f"{name} disagrees with the other judges: agreement {number_text(effect.value)} "
            f"{certainty_text(effect)}."
        )


def _spoiled_lines(name: str, judge: JudgeBias) -> Iterator[str]:
    effect = judge.spoiled
    if effect.value is not None and effect.interval and effect.interval[0] > _MANY_SPOILED_SHARE:
        yield (
            f"{percent(effect.value)} of the rankings of {name} are invalid "
            f"{certainty_text(effect, percent)}, so there are fewer to judge it by."
        )


# --- Ruled out and open


_QUESTIONS = tuple(measure for measure in ALL_MEASURES if measure.noun)


def none_lines(bias: BiasView) -> Iterator[str]:
    """Yield which biases are ruled out, in which judges."""
    for question in _QUESTIONS:
        judges = [judge for judge in bias.report.judges if _is_ruled_out(question, judge)]
        if judges:
            noun = question.noun[0].upper() + question.noun[1:]
            names = _judge_names(bias, judges)
            yield f"{noun}: none beyond ±{magnitude_text(_SMALL_BIAS)} in {names}."


def missing_line(bias: BiasView) -> str:
    """Return what cannot be said yet, and how many more rankings would settle it; "" if nothing."""
    judges = bias.report.judges
    opened = [
        (question, judge)
        for question in _QUESTIONS
        for judge in judges
        if _is_open(bias, question, judge)
    ]
    if not opened:
        return ""
    nouns = join_words(dict.fromkeys(question.noun for question, _ in opened))
    effects = [question.of(judge) for question, judge in opened]
    counts = [effect.more for effect in effects if effect.more]
    need = f"; up to {rough_count(max(counts)).removeprefix('about ')} more" if counts else ""
    need = need and f"{need} rankings by a judge would settle it"
    audits = any(effect.unit.startswith("audit") and not effect.n for effect in effects)
    how = ". Some of it needs audit rankings" if audits else ""
    return f"Too little data yet on {nouns}{need}{how}."


def _judge_names(bias: BiasView, judges: Sequence[JudgeBias]) -> str:
    if len(judges) == len(bias.report.judges) > 1:
        return "any judge"
    return join_words(bias.name(judge.judge) for judge in judges)


def _is_settled(question: Measure, judge: JudgeBias) -> bool:
    """Return whether the bias is proven; one never tested is, by its interval."""
    measures = (FIRST_SLOT, POSITION) if question is FIRST_SLOT else (question,)
    effects = [measure.of(judge) for measure in measures]
    return any(
        effect.is_found or (effect.p is None and excludes_zero(effect)) for effect in effects
    )


def _is_ruled_out(question: Measure, judge: JudgeBias) -> bool:
    interval = question.of(judge).interval
    if _is_settled(question, judge) or not interval or not question.can_be_none:
        return False
    return -_SMALL_BIAS <= interval[0] <= 0 <= interval[1] <= _SMALL_BIAS


def _is_open(bias: BiasView, question: Measure, judge: JudgeBias) -> bool:
    if question.is_of_family and not bias.has_family(judge):
        return False
    if question is KEPT:
        return KEPT.of(judge).value is None or KEPT.of(judge).n < MIN_BALLOTS
    return not _is_settled(question, judge) and not _is_ruled_out(question, judge)
