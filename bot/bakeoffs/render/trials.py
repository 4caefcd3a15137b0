"""Renderer of trials: what one can show and costs, its sentence, its details, and its JSON."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from bot.bakeoffs.render.bakeoffs import (
    LEAVE,
    TRY,
    Frame,
    bakeoff_title,
    cost_lines,
    failed_posts,
    failure_hint,
)
from bot.bakeoffs.render.leaderboard_export import Document
from bot.bakeoffs.trials import Reuse, Tried
from bot.chat import Button, Buttons, Caution, Heading, Line, Note, Part, Post, Thread
from bot.render.formatting import (
    costs_text,
    count_noun,
    duration,
    join_words,
    money,
    panel_seat_names,
    ratio_words,
    spending_text,
)
from council.bakeoffs.models import Bakeoff, BakeoffEstimate, BakeoffProgress
from council.bakeoffs.trial import (
    SETTLED,
    Outcome,
    Side,
    detectable_difference,
    look_sizes,
    questions_to_settle,
)
from council.methods import BOTH_ORDERS
from council.money import format_usd
from council.panel import Member, Panel, Trial

START_TRIAL = "trial_start"
TRY_BUTTON = Button(TRY, "Try a model", "new")


# --- The sentence


def trial_sentence(tried: Tried) -> str:
    """Return what a trial says, in a sentence that begins with Switch, Keep or Undecided."""
    result, names = tried.result, trial_names(tried.panel)
    candidate, incumbent = names[tried.trial.candidate], names[tried.trial.incumbent]
    if result.outcome is Outcome.UNDECIDED:
        return _undecided(tried, candidate)
    if result.outcome is Outcome.SWITCH:
        price = _price(result.candidate, result.incumbent, incumbent)
        return f"Switch to {candidate}: {_lead(tried, result.candidate, result.incumbent)}{price}."
    missed = result.candidate.absences
    if 2 * missed >= result.asked:
        return (
            f"Keep {incumbent}: {candidate} did not answer {missed} of "
            f"{count_noun(result.asked, 'question')}."
        )
    price = _price(result.incumbent, result.candidate, candidate)
    return f"Keep {incumbent}: {_lead(tried, result.incumbent, result.candidate)}{price}."


def _lead(tried: Tried, better: Side, other: Side) -> str:
    names, of = trial_names(tried.panel), tried.result.compared
    loser = names[other.member]
    if better.preferred is not None:
        return (
            f"the judges prefer its answer on {better.preferred} of {of}, and that of {loser} on "
            f"{other.preferred}"
        )
    if better.right is not None and other.right is not None:
        return f"right on {better.right} of {of} where {loser} is on {other.right}"
    grade, others = ((side.score or 0) * 100 for side in (better, other))
    return f"graded {grade:.0f} % on {of} questions where {loser} has {others:.0f} %"


def _undecided(tried: Tried, candidate: str) -> str:
    progress, result = tried.progress, tried.result
    names, sides = trial_names(tried.panel), (result.candidate, result.incumbent)
    ending = progress.bakeoff.ending
    if ending is None or ending.failure:
        stopped = "stopped" if ending else "so far only"
        done = f"{progress.over} of {count_noun(progress.questions, 'question')}"
        return f"Undecided: {stopped} {'after ' if ending else ''}{done}."
    if not result.compared:
        return "Undecided: neither model gave an answer that could be compared."
    parts = [f"no difference shown (±{_points(result.error)} points)"]
    if cost := costs_text(result.candidate.cost_usd, result.incumbent.cost_usd):
        parts.append(f"{candidate} {cost}")
    elif unknown := [names[x.member] for x in sides if x.cost_usd is None]:
        parts.append(f"the price of {join_words(unknown)} is unknown")
    more = questions_to_settle(result.spread)
    settled = f" About {_rounded(more)} questions would settle ±{_points(SETTLED)}."
    return f"Undecided: {'; '.join(parts)}.{settled if more > result.asked else ''}"


def _points(share: float) -> str:
    return f"{share * 100:.0f}"


def _rounded(number: int) -> int:
    """Return a number rounded up to two significant digits."""
    step = int(10 ** max(0, len(str(number)) - 2))
    return -(-number // step) * step


def _price(side: Side, other: Side, other_name: str) -> str:
    """Return how a side's price compares, to end a sentence: ", for a third of the price"."""
    if side.cost_usd is None:
        return "; its price is unknown"
    if other.cost_usd is None:
        return f"; the price of {other_name} is unknown"
    if side.cost_usd == other.cost_usd == 0:
        return ""
    if not other.cost_usd or not side.cost_usd:
        return f", for {money(side.cost_usd)} instead of {money(other.cost_usd)} a question"
    share, is_less = ratio_words(side.cost_usd / other.cost_usd)
    return f", for {share}{' of' if is_less else ''} the price"


# --- Posts


def trial_names(panel: Panel) -> dict[str, str]:
    """Return the names of a trial's models by key."""
    return panel_seat_names((panel,))


def trial_thread(tried: Tried, frame: Frame | None = None) -> Thread:
    """Return the result of a trial; for a room, with buttons."""
    progress, sentence = tried.progress, trial_sentence(tried)
    title = bakeoff_title(progress.bakeoff)
    parts: list[Part] = [Heading(title), *map(Caution, trial_missing_lines(tried)), Line(sentence)]
    parts += trial_details(tried, frame).parts
    if frame:
        parts.append(
            frame.buttons(progress, has_failed=bool(progress.bakeoff.ending and not is_over(tried)))
        )
    return Thread(Post(tuple(parts), f"{title} · {sentence}"), tuple(failed_posts(progress)))


def trial_details(tried: Tried, frame: Frame | None = None) -> Post:
    """Return what stands below the sentence: why it ended early, and its details."""
    ending = tried.progress.bakeoff.ending
    parts: list[Part] = [*map(Note, detail_lines(tried))]
    if ending and ending.failure:
        parts.insert(0, failure_hint(tried.progress, ending.failure, frame))
    return Post(tuple(parts), bakeoff_title(tried.progress.bakeoff))


def is_over(tried: Tried) -> bool:
    """Return whether a trial has ended with an answer."""
    ending = tried.progress.bakeoff.ending
    return ending is not None and ending.failure is None


def trial_missing_lines(tried: Tried) -> Iterator[str]:
    """Yield who did not answer, and how often."""
    names, result = trial_names(tried.panel), tried.result
    for side in (result.candidate, result.incumbent):
        if side.absences:
            yield f"{names[side.member]} did not answer {side.absences} of {result.asked}."


def detail_lines(tried: Tried) -> Iterator[str]:
    """Yield prices and speed, what was used again, and what it cost."""
    names, result = trial_names(tried.panel), tried.result
    for side in (result.candidate, result.incumbent):
        each = "" if side.cost_usd is None else " a question"
        facts = [f"{money(side.cost_usd)}{each}"]
        facts += [] if side.seconds is None else [duration(side.seconds)]
        yield f"{names[side.member]}: {', '.join(facts)}."
    alike: dict[tuple[int, str], list[str]] = {}
    for key, origins in tried.reused.items():
        days = _days([origin.asked_at for origin in origins])
        alike.setdefault((len(origins), days), []).append(names[key])
    for (count, days), of in alike.items():
        each = " each" if len(of) > 1 else ""
        yield f"{count_noun(count, 'answer')}{each} of {join_words(of)} used again, from {days}."
    if (left := result.questions - result.asked) and is_over(tried):
        is_clear = result.outcome is not Outcome.UNDECIDED
        why = "the answer is clear" if is_clear else f"the other {left} could not have decided it"
        yield f"It stopped early, since {why}."
    asked = f"{result.asked} of {count_noun(result.questions, 'question')} asked"
    yield f"{asked} · {spending_text(tried.progress.spending, tried.progress.bakeoff.cap_micro)}"


def _days(moments: Sequence[datetime]) -> str:
    """Return the first and the last day, or the only one."""
    first, last = min(moments), max(moments)
    return " to ".join(dict.fromkeys((f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}")))


def trial_proposal_post(
    bakeoff: Bakeoff,
    trial: Trial,
    plan: tuple[Reuse, BakeoffEstimate, float],
    value: str | None = None,
) -> Post:
    """Return a trial before anything is spent: what it can show, what it asks, and the cost.

    `plan` has what is used again, the cost, and how much answers are expected to differ. `value` is
    that of its buttons; without one, there are none.
    """
    reuse, cost, spread = plan
    title, questions = bakeoff_title(bakeoff), len(bakeoff.numbers)
    shown = _points(detectable_difference(questions, spread))
    size = f"{count_noun(questions, 'question')} can show a difference of about {shown} points."
    parts: list[Part] = [Heading(title), Line(size)]
    parts += map(Note, _plan_lines(bakeoff, trial, reuse))
    parts += map(Note, cost_lines(bakeoff, cost, _asked_seats(bakeoff, trial, reuse)))
    if value:
        parts.append(Buttons((Button(START_TRIAL, "Start", value), Button(LEAVE, "Cancel", value))))
    return Post(tuple(parts), f"{title} · {size}")


def _asked_seats(bakeoff: Bakeoff, trial: Trial, reuse: Reuse) -> Sequence[Member]:
    """Return the seats that receive questions: whose answers are missing, and the judges."""
    panel, judges = bakeoff.panel, list[Member]()
    asked = {trial.candidate}
    if reuse.count(trial.incumbent) < len(bakeoff.numbers):
        asked.add(trial.incumbent)
    if trial.is_ranked:
        judges += BOTH_ORDERS.judges(panel)
    if any(bakeoff.suite.questions[number - 1].rubric for number in bakeoff.numbers):
        judges += panel.outside_judges
    return [seat for seat in panel.seats if seat.key in asked or seat in judges]


def _plan_lines(bakeoff: Bakeoff, trial: Trial, reuse: Reuse) -> Iterator[str]:
    names, questions = trial_names(bakeoff.panel), len(bakeoff.numbers)
    incumbent, used = names[trial.incumbent], reuse.count(trial.incumbent)
    if days := reuse.days(trial.incumbent):
        yield f"{count_noun(used, 'answer')} of {incumbent} used again, from {_days(days)}."
    if used < questions:
        why = "there is no earlier answer to use again"
        if trial.incumbent in reuse.unfit:
            why = "its model, settings or prompt changed since its earlier answers"
        many = count_noun(questions - used, "question")
        yield f"{incumbent} is asked {many}, too, since {why}."
    if trial.is_ranked:
        judges = [names[seat.key] for seat in BOTH_ORDERS.judges(bakeoff.panel)]
        yield f"{join_words(judges)} rank the answers without names, in both orders."
    elif any(bakeoff.suite.questions[x - 1].rubric for x in bakeoff.numbers):
        outside = [names[seat.key] for seat in bakeoff.panel.outside_judges]
        yield f"{join_words(outside)} grade by the rubrics."
    else:
        yield "Every question is graded by code, so no judge is asked."
    if early := look_sizes(questions)[:-1]:
        yield f"It stops after {', '.join(map(str, early))} questions if the answer is clear."
    if bakeoff.cap_micro is not None:
        yield f"It spends at most {format_usd(bakeoff.cap_micro)}."


# --- JSON


def trial_document(tried: Tried) -> Document:
    """Return a trial as a JSON document; means are per answer, and null where unknown."""
    result, bakeoff = tried.result, tried.progress.bakeoff
    sides = {"candidate": result.candidate, "incumbent": result.incumbent}
    right = {name: side.right for name, side in sides.items()}
    document: Document = {
        "verdict": result.outcome.value,
        "sentence": trial_sentence(tried),
        "candidate": tried.trial.candidate,
        "incumbent": tried.trial.incumbent,
        "asked": result.asked,
        "of": result.questions,
        "reused": sum(map(len, tried.reused.values())),
        "right": {**right, "of": result.compared},
        "cost_usd": {name: side.cost_usd for name, side in sides.items()}
        | {"spent": tried.progress.spending.usd},
        "seconds": {name: side.seconds for name, side in sides.items()},
        "ranked_by": "points" if result.is_ranked else "grades",
        "preferred": {name: side.preferred for name, side in sides.items()},
        "score": {name: side.score for name, side in sides.items()},
        "difference": result.difference,
        "error": result.error,
        "missing": [*trial_missing_lines(tried)],
        "reused_from": [
            {"member": key, "round_id": x.round_id, "asked_at": x.asked_at.isoformat()}
            for key, origins in tried.reused.items()
            for x in origins
        ],
    }
    return document | _run(tried.progress, bakeoff)


def _run(progress: BakeoffProgress, bakeoff: Bakeoff) -> Document:
    ending = bakeoff.ending
    return {
        "id": bakeoff.id,
        "suite": bakeoff.suite.name,
        "suite_version": bakeoff.suite.version,
        "panel": bakeoff.panel.name,
        "failed": [{"question": one.number, "why": one.why} for one in progress.failed],
        "failure": ending.failure if ending else None,
    }
