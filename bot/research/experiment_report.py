"""Experiments before they begin, as they go, and at their end."""

from collections.abc import Iterator

from bot.chat import Caution, Heading, Line, Note, Part, Post
from bot.render.formatting import counted, listed, names_of, roughly
from bot.render.round_status import receivers
from bot.research.grade_report import Document, grades_document
from council.budget import Estimate
from council.money import MICRO, about, dollars
from council.research.experiment import Experiment, Progress
from council.research.grades import GradeReport

# --- Experiments before they begin, as they go, and at their end.

MOST_WAYS = 10  # in which calls failed, told one by one


def experiment_title(experiment: Experiment) -> str:
    """Give what an experiment goes by."""
    return f"Experiment on {experiment.suite.name} by {experiment.panel.name}"


def experiment_proposal(experiment: Experiment, left: int, cost: Estimate) -> Post:
    """Give what an experiment comes to before anything more is spent; `left` calls are to come."""
    title = experiment_title(experiment)
    parts: list[Part] = [Heading(title), Line(_size(experiment)), Note(_calls(experiment, left))]
    parts += map(Note, _cost(experiment, cost))
    if experiment.cap_micro is not None and cost.unknown:
        parts.append(Caution("The cap cannot count what models of unknown price cost."))
    return Post(tuple(parts), f"{title} · {_size(experiment)}")


def _size(experiment: Experiment) -> str:
    names = names_of(experiment.panel)
    members = listed(names[seat.key] for seat in experiment.panel.members)
    questions = counted(len(experiment.suite.questions), "question")
    return (
        f"{questions}, each answered by {members}; each of them then grades every answer, its own "
        "included, twice: once where 5 is best, once where 1 is."
    )


def _calls(experiment: Experiment, left: int) -> str:
    calls = counted(experiment.calls, "call")
    if left == experiment.calls:
        return f"That takes {calls}."
    return (
        f"Going on with {experiment.id}: {experiment.calls - left:,} of {calls} are there already, "
        "and are not made again; --new begins another."
    )


def _cost(experiment: Experiment, cost: Estimate) -> Iterator[str]:
    names = names_of(experiment.panel)
    known = f"it costs about {about(cost.micro)} at most" if cost.micro else ""
    unknown = listed(names[key] for key in cost.unknown)
    unsure = f"cost unknown for {unknown}" if unknown else ""
    told = "; ".join(filter(None, (known, unsure))) or "it costs nothing"
    cap = experiment.cap_micro
    capped = "" if cap is None else f", and its cap is {dollars(cap)} in all"
    yield f"{told[0].upper()}{told[1:]}{capped}."
    yield f"The questions and answers go to {receivers(experiment.panel)}."


def going(progress: Progress) -> str:
    """Say how far an experiment is: "12 of 63 calls, about 2 min left · 1 failed · $0.02"."""
    told = f"{progress.over} of {counted(progress.experiment.calls, 'call')}"
    if progress.seconds_left is not None:
        told += f", about {roughly(progress.seconds_left)} left"
    return f"{told}{going_beside(progress)}"


def going_beside(progress: Progress) -> str:
    """Say what is worth knowing beside how far it is."""
    failed = f" · {progress.failed} failed" if progress.failed else ""
    spent = f" · {dollars(progress.spent_micro)}" if progress.spent_micro else ""
    return f"{failed}{spent}"


def ending_lines(progress: Progress) -> Iterator[str]:
    """Say what came of an experiment, what failed, and how to go on."""
    answers, grades = counted(progress.answers, "answer"), counted(progress.grades, "grade")
    spoiled = f", {progress.spoiled} given up on after two tries" if progress.spoiled else ""
    spent = dollars(progress.spent_micro)
    yield f"{progress.experiment.id}: {answers}, {grades}{spoiled}; {spent} spent."
    names = names_of(progress.experiment.panel)
    for failure, times in progress.failures[:MOST_WAYS]:
        often = f" ({times} times)" if times > 1 else ""
        yield f"{names[failure.seat]} {failure.why}{often}."
    if len(progress.failures) > MOST_WAYS:
        yield f"Calls failed in {len(progress.failures) - MOST_WAYS} more ways."
    if progress.blocked:
        yield f"It stopped before its end: the next call {progress.blocked}."
    if progress.failed or progress.blocked:
        yield "The same command goes on, and asks only for what is missing."


# --- An experiment and the report on its grades for programs.


def experiment_document(progress: Progress, report: GradeReport) -> Document:
    """Give what `council bias run --json` prints: the report, and what it comes from."""
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
            "spent_usd": progress.spent_micro / MICRO,
        },
    }
