"""Suites before people's eyes: the list, one of them, and one that waits to be kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.chat import Button, Buttons, Heading, Line, Note, Part, Post, Table
from bot.render.formatting import counted, listed, names_of
from bot.render.text_safety import shortened
from council.bakeoffs.models import Reference, Suite, SuiteQuestion
from council.bakeoffs.ports import SuiteSummary
from council.budget import Estimate
from council.money import about
from council.panel import Panel

_MAX_QUESTIONS = 20
_QUESTION_LENGTH = 70
_ANSWER_LENGTH = 30
KEEP, LEAVE = "keep_suite", "leave_suite"
_NO_SUITE = (
    "There is no suite yet. `/council suite add NAME` with a file of questions makes one, and "
    "“Add to suite” under a round grows one."
)


@dataclass(frozen=True, slots=True)
class SuiteRunCost:
    """What one run of a suite costs on a panel; None where there is no panel to ask."""

    panel: Panel
    estimate: Estimate


def list_post(lines: Sequence[SuiteSummary], scope: str) -> Post:
    """Give the suites to choose from in a scope."""
    if not lines:
        return Post((Note(_NO_SUITE),), _NO_SUITE)
    rows = tuple(
        (
            line.name + (" (the house's)" if line.scope != scope else ""),
            str(line.questions),
            str(line.graded),
            line.version,
            f"{line.kept_at:%Y-%m-%d}",
        )
        for line in lines
    )
    columns = ("Suite", "Questions", "With an answer", "Version", "Kept (UTC)")
    table = Table(columns, rows, frozenset({1, 2}))
    note = Note("`/council suite show NAME` opens one.")
    return Post((Heading(counted(len(lines), "suite")), table, note), "Suites")


def suite_post(suite: Suite, run: SuiteRunCost | None) -> Post:
    """Give a suite's first questions, its size and what a run costs."""
    rows = tuple(
        (
            str(number),
            question.category,
            _question_text(question),
            _reference_text(question.reference),
        )
        for number, question in enumerate(suite.questions[:_MAX_QUESTIONS], start=1)
    )
    table = Table(("", "Category", "Question", "Answer"), rows, frozenset({0}))
    parts: list[Part] = [Heading(f"Suite {suite.name}"), Line(size_line(suite)), table]
    if left := len(suite.questions) - _MAX_QUESTIONS:
        parts += [Note(f"And {counted(left, 'question')} more.")] if left > 0 else []
    parts.append(Note(f"{cost_line(run)} Version {suite.version}."))
    return Post(tuple(parts), f"Suite {suite.name}")


def offer_post(
    suite: Suite,
    run: SuiteRunCost | None,
    before: SuiteSummary | None,
    code: str,
    *,
    typed: bool = False,
) -> Post:
    """Give a suite that is not kept yet: its size, its cost, and two buttons, or what to type."""
    title = f"Keep suite {suite.name}?"
    parts: list[Part] = [Heading(title), Line(size_line(suite)), Line(cost_line(run))]
    if before:
        parts.append(Note(_replacement_note(suite, before)))
    how = f" `suite keep {code}` keeps it." if typed else ""
    parts.append(Note(f"{_readers_note(suite.scope)}Nothing is asked now.{how}"))
    parts.append(Buttons((Button(KEEP, "Keep it", code), Button(LEAVE, "Leave it", code))))
    return Post(tuple(parts), title)


def kept_post(suite: Suite, run: SuiteRunCost | None = None) -> Post:
    """Give the word that a suite is kept."""
    line = f"Suite {suite.name} is kept: {size_line(suite)}"
    return Post((Line(line), *((Note(cost_line(run)),) if run else ())), line)


def grown_post(suite: Suite, run: SuiteRunCost | None) -> Post:
    """Give the word that a question joined a suite."""
    line = f"The question is in suite {suite.name} now, which has {size_line(suite)}"
    return Post((Line(line), Note(cost_line(run))), line)


def size_line(suite: Suite) -> str:
    """Give a suite's size: "12 questions in 3 categories, 10 with a reference answer."."""
    categories = {question.category for question in suite.questions if question.category}
    sorts = f" in {len(categories)} categories" if len(categories) > 1 else ""
    graded = sum(question.reference is not None for question in suite.questions)
    answers = f"{graded} with a reference answer" if graded else "none with a reference answer"
    seen = "; judges see these" if graded and suite.judges_see_references else ""
    return f"{counted(len(suite.questions), 'question')}{sorts}, {answers}{seen}."


def cost_line(run: SuiteRunCost | None) -> str:
    """Give what one run costs: "One run on panel house costs about $0.40 at most."."""
    if run is None:
        return "What a run costs is not known: no panel is set up here."
    names, estimate = names_of(run.panel), run.estimate
    told = f"costs about {about(estimate.micro)} at most" if estimate.micro else ""
    if estimate.unknown:
        seats = listed(names[key] for key in estimate.unknown)
        told += f"{'; ' if told else 'has a '}cost unknown for {seats}"
    return f"One run on panel {run.panel.name} {told or 'costs nothing'}."


def _replacement_note(suite: Suite, before: SuiteSummary) -> str:
    had = counted(before.questions, "question")
    if before.scope != suite.scope:
        return f"The house has a suite of this name with {had}; yours goes before it here."
    return (
        f"It takes the place of version {before.version} with {had}; what was measured on that "
        "stays with it."
    )


def _readers_note(scope: str) -> str:
    return "Everybody in this workspace can read a suite. " if scope else ""


def _question_text(question: SuiteQuestion) -> str:
    return shortened(" ".join(question.text.split()), _QUESTION_LENGTH)


def _reference_text(reference: Reference | None) -> str:
    if reference is None:
        return ""
    give = f" ± {reference.tolerance:.10g}" if reference.tolerance else ""
    value = shortened(" ".join(reference.value.split()), _ANSWER_LENGTH)
    return f"{value}{give} ({reference.grading.value})"
