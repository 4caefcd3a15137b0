"""What was found of each judge beyond chance, a plain sentence each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import exp, tanh

from bot.render.bias_view import (
    AGREEMENT,
    ALL,
    FAMILY,
    FIRST_SLOT,
    KEPT,
    LENGTH,
    NAMED,
    OWN,
    POSITION,
    Measure,
    ShownBias,
    about,
    brand_lines,
    chance,
    how_sure,
    is_off,
    plain,
    rounds_and_ballots,
    size,
)
from bot.render.formatting import listed
from bot.render.leaderboard_tables import Coverage, nothing, percent, signed
from council.bakeoffs.leaderboard import MOST_POSITION
from council.bias.report import Effect, JudgeBias

# --- What was found of each judge beyond chance, a plain sentence each.

NOTHING = "No bias of a judge was found beyond chance yet."
ENOUGH = 10  # ballots, below which orders kept are no finding
STEADY = 0.9  # who surely keeps fewer orders of pairs than this is told of
_COIN = 0.5
_MANY_SPOILED = 0.1
_PLACES = {1: "first", 2: "second", 3: "third"}

Says = Callable[[ShownBias, JudgeBias], Iterator[str]]


def found_lines(shown: ShownBias) -> Iterator[str]:
    """Say what was found, measure by measure; nothing where nothing was."""
    for says in (_own, _family, _position, _kept, _length, _style, _named, _agreement, _spoiled):
        for judge in shown.report.judges:
            yield from says(shown, judge)


def _higher(effect: Effect) -> str:
    """Give "HOW MUCH higher", and how sure that is comes last."""
    return f"{size(effect.value or 0)} {'lower' if (effect.value or 0) < 0 else 'higher'}"


def _sure(effect: Effect) -> str:
    return how_sure(effect, turned=(effect.value or 0) < 0)


def _own(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    if judge.own.is_found:
        yield (
            f"{shown.name(judge.judge)} ranks its own answer {_higher(judge.own)} than the others "
            f"do {_sure(judge.own)}."
        )


def _family(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    if judge.family.is_found:
        yield (
            f"{shown.name(judge.judge)} ranks the rest of its family ({shown.maker(judge)}) "
            f"{_higher(judge.family)} than the others do {_sure(judge.family)}."
        )


def _named(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    if judge.named.is_found:
        yield (
            f"{shown.name(judge.judge)} ranks its family ({shown.maker(judge)}) "
            f"{_higher(judge.named)} when it sees the names {_sure(judge.named)}: blinding takes "
            "that away."
        )


def _position(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    """Say which slot a judge is fondest of, or likes least; once, however it was tested."""
    if judge.position.is_found:
        effect, place = judge.position, _slot_of(judge)
        sure = ", ".join(filter(None, (f"n {effect.n:,}", chance(effect))))
        yield (
            f"{shown.name(judge.judge)} follows the order it is shown: what it sees {place} it "
            f"ranks {_higher(effect)} than chance would ({sure}){_hardly(effect)}."
        )
    elif judge.first_slot.is_found:
        yield (
            f"{shown.name(judge.judge)} ranks what it sees first {_higher(judge.first_slot)} than "
            f"chance would {_sure(judge.first_slot)}."
        )


def _hardly(effect: Effect) -> str:
    """Say where a fondness is sure, and yet too small to matter."""
    return ", which hardly matters" if abs(effect.value or 0) <= MOST_POSITION else ""


def _slot_of(judge: JudgeBias) -> str:
    known = [slot for slot in judge.slots if slot.effect.value is not None]
    if not known:
        return "at one place"
    number = max(known, key=lambda slot: abs(slot.effect.value or 0)).number
    return _PLACES.get(number, f"{number}th")


def _kept(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    kept = judge.kept
    if kept.value is None or kept.interval is None or kept.n < ENOUGH:
        return
    if kept.interval[1] >= STEADY:
        return
    no_better = ", not told from a coin" if kept.interval[0] <= _COIN else ""
    yield (
        f"{shown.name(judge.judge)} keeps {percent(kept.value)} of its orders of pairs when it "
        f"sees the same answers in another order{no_better} {how_sure(kept, percent)}."
    )


def _length(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    effect = judge.length
    if effect.is_found and effect.value is not None:
        longer = "longer" if effect.value > 0 else "shorter"
        yield (
            f"{shown.name(judge.judge)} favours {longer} answers: one {longer} by a standard "
            f"deviation beats its equal {percent(_odds(abs(effect.value)))} of the time "
            f"{_phi(effect)}."
        )


def _phi(effect: Effect) -> str:
    return how_sure(effect).replace("(", f"(φ {size(effect.value or 0)}, ", 1)


def _odds(phi: float) -> float:
    """Give how often an answer wins that is longer by one standard deviation, by its length."""
    return 1 / (1 + exp(-phi * tanh(1)))


def _style(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    for trait, effect in judge.style.items():
        if effect.is_found and effect.value is not None:
            does = "favours" if effect.value > 0 else "marks down"
            yield (
                f"{shown.name(judge.judge)} {does} answers with {trait}, by {size(effect.value)} "
                f"in log-odds beside length {_sure(effect)}."
            )


def _agreement(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    effect = judge.agreement
    if effect.value is not None and effect.value < 0 and is_off(effect):
        yield (
            f"{shown.name(judge.judge)} ranks against the other judges: mean τ "
            f"{plain(effect.value)} {how_sure(effect)}."
        )


def _spoiled(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    effect = judge.spoiled
    if effect.value is not None and effect.interval and effect.interval[0] > _MANY_SPOILED:
        yield (
            f"{shown.name(judge.judge)} spoils {percent(effect.value)} of its ballots "
            f"{how_sure(effect, percent)}: the fewer are left to judge it by."
        )


# --- What was looked for: what may be there, what is not, and what nobody can say yet.

SMALL = 0.10  # whole intervals within this share of 0 leave out any bias that matters


@dataclass(frozen=True, slots=True)
class _Question:
    """What was looked for by a measure; `settled_by` settles it too where it is found.

    Where `can_be_none`, an interval close to 0 says that it is not there. Where nothing could be
    measured, `unmeasured` says why, if it is not for lack of what is counted.
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


def sign_lines(shown: ShownBias) -> Iterator[str]:
    """Say what would be beyond chance by itself, and is not among all that is tested."""
    for question in _QUESTIONS:
        judges = [judge for judge in shown.report.judges if _is_sign(question, judge)]
        if judges:
            said = (_signed(shown, question, judge) for judge in judges)
            each = "each" if len(judges) > 1 else "it"
            yield (
                f"Perhaps {question.noun} in {listed(said)}: by itself {each} would be beyond "
                "chance, among all that is tested it may be chance."
            )


def none_lines(shown: ShownBias) -> Iterator[str]:
    """Say which bias is none that matters, in whom; nothing where that cannot be said."""
    for question in _QUESTIONS:
        judges = [judge for judge in shown.report.judges if _none(question, judge)]
        if judges:
            noun = question.noun[0].upper() + question.noun[1:]
            yield f"{noun}: none beyond ±{size(SMALL)} in {_names(shown, judges)}."


def open_lines(shown: ShownBias) -> Iterator[str]:
    """Say what is too little known yet, of whom, and how much more would settle it."""
    silent = [judge for judge in shown.report.judges if _is_silent(judge)]
    heard = [judge for judge in shown.report.judges if judge not in silent]
    for question in _QUESTIONS:
        judges = [judge for judge in heard if _open(shown, question, judge)]
        if judges:
            names = _names(shown, judges)
            effects = [question.measure.of(judge) for judge in judges]
            settled = _settling(effects, question.unmeasured)
            yield f"Too little to say yet about {question.noun} in {names}{settled}."
    if silent:
        yield f"Nothing is known yet of {_names(shown, silent)}."


def _names(shown: ShownBias, judges: Sequence[JudgeBias]) -> str:
    """Give judges by their names; where it is every one of several, that."""
    if len(judges) == len(shown.report.judges) > 1:
        return "any judge"
    return listed(shown.name(judge.judge) for judge in judges)


def _signed(shown: ShownBias, question: _Question, judge: JudgeBias) -> str:
    return f"{shown.name(judge.judge)} ({signed(question.measure.of(judge).value or 0)})"


def _is_silent(judge: JudgeBias) -> bool:
    return not any(measure.of(judge).n for measure in ALL)


def _settled(question: _Question, judge: JudgeBias) -> bool:
    """Say whether it is found; what is not tested at all is, by its interval."""
    effects = question.measure.of(judge), question.settled_by.of(judge)
    return any(effect.is_found or (effect.p is None and is_off(effect)) for effect in effects)


def _is_sign(question: _Question, judge: JudgeBias) -> bool:
    return is_off(question.measure.of(judge)) and not _settled(question, judge)


def _none(question: _Question, judge: JudgeBias) -> bool:
    interval = question.measure.of(judge).interval
    if _settled(question, judge) or not interval or not question.can_be_none:
        return False
    return -SMALL <= interval[0] <= 0 <= interval[1] <= SMALL


def _open(shown: ShownBias, question: _Question, judge: JudgeBias) -> bool:
    if question.measure.is_of_family and not shown.has_family(judge):
        return False
    if question.measure is KEPT:
        return KEPT.of(judge).value is None or KEPT.of(judge).n < ENOUGH
    told = (_settled(question, judge), _is_sign(question, judge), _none(question, judge))
    return not any(told)


def _settling(effects: Sequence[Effect], unmeasured: str) -> str:
    """Give what would settle it, for one or for several."""
    more = [effect.more for effect in effects if effect.more]
    units = {effect.unit for effect in effects if effect.more or not more}
    unit = f" {units.pop()}" if len(units) == 1 else ""
    if more:
        few, many = about(min(more)), about(max(more))
        range_ = few if few == many else f"{few} to {many.removeprefix('about ')}"
        if many.startswith("more") and few != many:
            range_ = f"from {range_}"
        each = " each" if len(effects) > 1 else ""
        return f": {range_} more{unit}{each} would settle it"
    if any(effect.n for effect in effects):
        return ""
    none = f"there are no{unit or ' ballots'} yet"
    return f": {unmeasured or none}"


# --- What a report comes to, in plain sentences: what was found first, then what nobody can say.

HOW = (
    "Found is what stays beyond chance when all that is tested is taken into account "
    "(p at most .05, after Holm). Shares are of rivals beaten: 0 is last, 1 is first."
)


def findings(shown: ShownBias) -> tuple[str, ...]:
    """Give every finding, the sure ones first."""
    found = [*found_lines(shown), *brand_lines(shown)] or [NOTHING]
    return (*found, *sign_lines(shown), *none_lines(shown), *open_lines(shown))


def covers(shown: ShownBias) -> str:
    """Say what was looked at; where nothing fits, what to do."""
    coverage, report = shown.coverage, shown.report
    if not report.rounds:
        return nothing(coverage)
    said = [f"Over {rounds_and_ballots(report.rounds, report.ballots)}", *_narrowed(coverage)]
    return f"{', '.join(said)}."


def _narrowed(coverage: Coverage) -> Iterator[str]:
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
        yield f"asked {listed(window)}"
