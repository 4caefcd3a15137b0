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
from bot.bakeoffs.render.bias_verdicts import chairman_lines, plain_chairman_lines
from bot.bakeoffs.render.leaderboard_tables import no_rounds_line, percent
from bot.render.formatting import count_noun, join_words, ordinal
from council.bakeoffs.bias.report import Effect, JudgeBias

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


def plain_findings(bias: BiasView) -> tuple[str, ...]:
    """Return the findings in words, a sentence for all judges that share one; without figures."""
    found = [*_plain_lines(bias, *_PLAIN_BIASES)] or [*brand_lines(bias)] or [NO_BIAS_FOUND]
    chairmen = plain_chairman_lines(bias)
    return (*found, *chairmen, *_plain_lines(bias, *_PLAIN_VOTING), *none_lines(bias))


def findings(bias: BiasView) -> tuple[str, ...]:
    """Return every finding with its figures: biases beyond chance, how judges vote, none."""
    found = [*bias_lines(bias), *brand_lines(bias)] or [NO_BIAS_FOUND]
    return (*found, *chairman_lines(bias), *voting_lines(bias), *none_lines(bias))


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
            f"Over {effect.n:,} rankings, {name} placed the {_strongest_slot(judge)} "
            f"answer {higher_or_lower(effect)} than chance ({p_text(effect)}){matters}."
        )
    else:
        what = f"{name} ranks what it sees first"
        yield from difference_lines(what, judge.first_slot, "than chance")


def _strongest_slot(judge: JudgeBias) -> str:
    slots = [slot for slot in judge.slots if slot.effect.value is not None]
    if not slots:
        return "same"
    return _slot_name(max(slots, key=lambda slot: abs(slot.effect.value or 0)).number)


def _slot_name(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, ordinal(number))


def _consistency_lines(name: str, judge: JudgeBias) -> Iterator[str]:
    kept = judge.kept
    if not is_unsteady(judge) or kept.value is None or kept.interval is None:
        return
    no_better = ", no better than chance" if kept.interval[0] <= _COIN_SHARE else ""
    yield (
        f"{name} ranks {percent(kept.value)} of pairs the same way when it sees the same answers "
        f"in another order{no_better} {certainty_text(kept, percent)}."
    )


def is_unsteady(judge: JudgeBias) -> bool:
    """Return whether a judge surely ranks over a tenth of pairs differently in another order."""
    kept = judge.kept
    if kept.value is None or kept.interval is None or kept.n < MIN_BALLOTS:
        return False
    return kept.interval[1] < 0.9  # noqa: PLR2004 - of pairs


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
    if is_contrary(judge):
        effect = judge.agreement
        yield (
            f"{name} disagrees with the other judges: agreement {number_text(effect.value or 0)} "
            f"{certainty_text(effect)}."
        )


def is_contrary(judge: JudgeBias) -> bool:
    """Return whether a judge surely disagrees with the others, though any of several may."""
    effect = judge.agreement
    if effect.value is None or effect.interval is None:
        return False
    return effect.value + _SEVERAL_JUDGES * (effect.interval[1] - effect.value) < 0


def _spoiled_lines(name: str, judge: JudgeBias) -> Iterator[str]:
    effect = judge.spoiled
    if has_many_spoiled(judge):
        yield (
            f"{percent(effect.value or 0)} of the rankings of {name} were invalid "
            f"{certainty_text(effect, percent)}."
        )


def has_many_spoiled(judge: JudgeBias) -> bool:
    """Return whether surely over a tenth of a judge's rankings are invalid."""
    effect = judge.spoiled
    return effect.interval is not None and effect.interval[0] > _MANY_SPOILED_SHARE


# --- Findings in words

_Words = tuple[str, str]  # what one judge does, and what several do


def _plain_lines(
    bias: BiasView, *renders: Callable[[JudgeBias], Iterator[_Words]]
) -> Iterator[str]:
    """Yield a sentence for each thing that judges do, with the names of all who do it."""
    for render in renders:
        sharing = dict[_Words, list[JudgeBias]]()
        for judge in bias.report.judges:
            for words in render(judge):
                sharing.setdefault(words, []).append(judge)
        for words, judges in sharing.items():
            names = join_words(bias.name(judge.judge) for judge in judges)
            if len(judges) == len(bias.report.judges) > 2:  # noqa: PLR2004 - two are named
                names = f"All {len(judges)} judges"
            yield f"{names} {words[len(judges) > 1]}."


def _too_high(effect: Effect) -> str:
    return "too high" if (effect.value or 0) > 0 else "too low"


def _own_words(judge: JudgeBias) -> Iterator[_Words]:
    if judge.own.is_found:
        how = _too_high(judge.own)
        yield f"places its own answer {how}", f"place their own answers {how}"


def _family_words(judge: JudgeBias) -> Iterator[_Words]:
    if judge.family.is_found:
        how = _too_high(judge.family)
        yield f"places models of its family {how}", f"place models of their families {how}"


def _position_words(judge: JudgeBias) -> Iterator[_Words]:
    if judge.is_position_biased:
        slots = [slot for slot in judge.slots if slot.effect.value is not None]
        most = max(slots, key=lambda slot: abs(slot.effect.value or 0), default=None)
        effect = most.effect if most else judge.first_slot
        answer = f"the {_slot_name(most.number if most else 1)} answer {_too_high(effect)}"
        yield f"tends to place {answer}", f"tend to place {answer}"


def _length_words(judge: JudgeBias) -> Iterator[_Words]:
    if judge.length.is_found:
        longer = "longer" if (judge.length.value or 0) > 0 else "shorter"
        yield f"favours {longer} answers", f"favour {longer} answers"


def _style_words(judge: JudgeBias) -> Iterator[_Words]:
    for trait, effect in judge.style.items():
        if effect.is_found:
            likes = (effect.value or 0) > 0
            one, several = ("favours", "favour") if likes else ("marks down", "mark down")
            yield f"{one} answers with {trait}", f"{several} answers with {trait}"


def _names_shown_words(judge: JudgeBias) -> Iterator[_Words]:
    if judge.named.is_found:
        when = f"{_too_high(judge.named)} when names are shown; blinding prevents that"
        yield f"places its family {when}", f"place their families {when}"


def _consistency_words(judge: JudgeBias) -> Iterator[_Words]:
    if is_unsteady(judge) and judge.kept.interval:
        how = "as if by chance" if judge.kept.interval[0] <= _COIN_SHARE else "now and then"
        when = f"{how} when the order changes"
        yield f"ranks differently {when}", f"rank differently {when}"


def _agreement_words(judge: JudgeBias) -> Iterator[_Words]:
    if is_contrary(judge):
        yield "disagrees with the other judges", "disagree with the other judges"


def _spoiled_words(judge: JudgeBias) -> Iterator[_Words]:
    if has_many_spoiled(judge):
        if judge.spoiled.value == 1:
            yield "gave no valid ranking", "gave no valid rankings"
        else:
            often = f"gave invalid rankings {percent(judge.spoiled.value or 0)} of the time"
            yield often, often


_PLAIN_BIASES = (
    _own_words,
    _family_words,
    _position_words,
    _length_words,
    _style_words,
    _names_shown_words,
)
_PLAIN_VOTING = (_consistency_words, _agreement_words, _spoiled_words)


# --- Ruled out and open


_QUESTIONS = tuple(measure for measure in ALL_MEASURES if measure.noun)


def none_lines(bias: BiasView) -> Iterator[str]:
    """Yield which biases are ruled out, in which judges."""
    for question in _QUESTIONS:
        judges = [judge for judge in bias.report.judges if _is_ruled_out(question, judge)]
        if judges:
            noun = question.noun[0].upper() + question.noun[1:]
            names = _judge_names(bias, judges)
            yield f"{noun}: none that matters in {names}."


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
    audits = any(effect.unit.startswith("audit") and not effect.n for effect in effects)
    some = ", some of them audit rankings" if audits else ""
    need = " Needs audit rankings." if audits else ""
    if counts:
        most = rough_count(max(counts)).removeprefix("about ")
        limit = most if most.startswith("more") else f"up to {most}"
        need = f" Needs {limit} more rankings per judge{some}."
    return f"Too little data yet on {nouns}.{need}"


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
