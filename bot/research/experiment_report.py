"""Render a bias experiment: the proposal, progress lines, the ending, and the JSON document."""

from collections.abc import Iterator

from bot.chat import Caution, Heading, Line, Note, Part, Post
from bot.render.formatting import (
    count_noun,
    join_words,
    max_cost_text,
    rough_duration,
    seat_names,
    spending_text,
)
from bot.render.round_status import receivers
from bot.research.grade_report import Document, grades_document
from council.budget import Estimate
from council.money import MICRO_USD, Spending, format_usd
from council.research.experiment import Experiment, ExperimentProgress
from council.research.grades import GradeReport

MAX_FAILURE_LINES = 10


def experiment_title(experiment: Experiment) -> str:
    """Return the title of an experiment."""
    return f"Experiment on {experiment.suite.name} by {experiment.panel.name}"


def experiment_proposal(experiment: Experiment, left: int, cost: Estimate) -> Post:
    """Return the size and cost of an experiment before more is spent; `left` calls are to come."""
    title = experiment_title(experiment)
    parts: list[Part] = [
        Heading(title),
        Line(_size_sentence(experiment)),
        Note(_calls_sentence(experiment, left)),
    ]
    parts += map(Note, _cost_sentences(experiment, cost))
    if experiment.cap_micro is not None and cost.unknown:
        parts.append(Caution("The cap can't include models whose price is unknown."))
    return Post(tuple(parts), f"{title} · {_size_sentence(experiment)}")


def _size_sentence(experiment: Experiment) -> str:
    names = seat_names(experiment.panel)
    members = join_words(names[seat.key] for seat in experiment.panel.members)
    questions = count_noun(len(experiment.suite.questions), "question")
    return (
        f"{questions}, each answered by {members}. Each of them then grades every answer, "
        "including its own, twice: once with 5 as the best grade, once with 1."
    )


def _calls_sentence(experiment: Experiment, left: int) -> str:
    calls = count_noun(experiment.calls, "call")
    if left == experiment.calls:
        return f"That takes {calls}."
    return (
        f"Resuming {experiment.id}: {experiment.calls - left:,} of {calls} are done and not "
        "repeated. Use --new to start another."
    )


def _cost_sentences(experiment: Experiment, cost: Estimate) -> Iterator[str]:
    names = seat_names(experiment.panel)
    cost_text = max_cost_text(cost.micro, (names[key] for key in cost.unknown))
    cap = experiment.cap_micro
    capped = "" if cap is None else f", with a cap of {format_usd(cap)} in total"
    yield f"{cost_text}{capped}."
    yield f"The questions and answers go to {receivers(experiment.panel)}."


def progress_line(progress: ExperimentProgress) -> str:
    """Return the progress line: "12 of 63 calls, about 2 min left · 1 failed · $0.02 spent"."""
    line = f"{progress.over} of {count_noun(progress.experiment.calls, 'call')}"
    if progress.seconds_left is not None:
        line += f", about {rough_duration(progress.seconds_left)} left"
    return f"{line}{progress_details(progress)}"


def progress_details(progress: ExperimentProgress) -> str:
    """Return the part of the progress line on failures and cost: " · 1 failed · $0.02 spent"."""
    failed = f" · {progress.failed} failed" if progress.failed else ""
    spent = f" · {spending_text(progress.spending)}" if progress.spending != Spending() else ""
    return f"{failed}{spent}"


def ending_lines(progress: ExperimentProgress) -> Iterator[str]:
    """Yield what came of an experiment, what failed, and how to continue."""
    answers, grades = count_noun(progress.answers, "answer"), count_noun(progress.grades, "grade")
    spoiled = f", {progress.spoiled} invalid after two tries" if progress.spoiled else ""
    spent = spending_text(progress.spending)
    yield f"{progress.experiment.id}: {answers}, {grades}{spoiled}; {spent}."
    names = seat_names(progress.experiment.panel)
    for failure, times in progress.failures[:MAX_FAILURE_LINES]:
        repeated = f" ({times} times)" if times > 1 else ""
        yield f"{names[failure.seat]} {failure.why}{repeated}."
    if len(progress.failures) > MAX_FAILURE_LINES:
        yield f"Calls failed in {len(progress.failures) - MAX_FAILURE_LINES} other ways."
    if progress.blocked:
        yield f"It stopped early: the next call {progress.blocked}."
    if progress.failed or progress.blocked:
        yield "Run the same command to resume; only what is missing is asked."


def experiment_document(progress: ExperimentProgress, report: GradeReport) -> Document:
    """Return what `council bias run --json` prints: the report, and the experiment it is from."""
    experiment = progress.experiment
    return {
        **grades_document(report),
        "experiment": {
            "id": experiment.id,
            "suite": experiment.suite.name,
            "version": experiment.suite.version,
            "panel": experiment.panel.name,
            "questions": len(experiment.suite.questions),
            "calls": experiment.calls,
            "answers": progress.answers,
            "grades": progress.grades,
            "spoiled": progress.spoiled,
            "failed": [
                {"member": failure.seat, "why": failure.why, "times": times}
                for failure, times in progress.failures
            ],
            "stopped": progress.blocked,
            "spent_usd": progress.spending.usd,
            "known_spent_usd": progress.spending.micro / MICRO_USD,
            "unknown_calls": progress.spending.unknown_calls,
        },
    }
